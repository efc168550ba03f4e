-- Makes the next held event of lane ?2 of stage ?1 due at once.
UPDATE {outbox_waiting} SET next_at = CAST(unixepoch('subsec') * 1000 AS INTEGER)
 WHERE stage = ?1 AND lane = ?2
