-- Moves the progress of stage ?1 to ?2; the caller holds the write lock and has seen its lease.
UPDATE {outbox_progress} SET settled_seq = ?2 WHERE stage = ?1 AND settled_seq <= ?2
