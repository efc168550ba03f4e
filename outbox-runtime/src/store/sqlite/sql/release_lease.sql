-- Lets the lease ?1 of owner ?2 run out now. The row stays, for its epoch.
UPDATE {outbox_leader} SET expires_at = 0 WHERE lease = ?1 AND owner = ?2
