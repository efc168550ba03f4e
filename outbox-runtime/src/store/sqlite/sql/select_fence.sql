-- Whether owner ?2 leads lease ?1 in epoch ?3. Read under the write lock, so nobody takes over before the commit.
SELECT 1 FROM {outbox_leader} WHERE lease = ?1 AND owner = ?2 AND epoch = ?3
