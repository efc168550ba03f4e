-- Sets the next attempt of lane ?2 of stage ?1 to ?3 milliseconds from now.
UPDATE {outbox_waiting} SET next_at = CAST(unixepoch('subsec') * 1000 AS INTEGER) + ?3
 WHERE stage = ?1 AND lane = ?2
