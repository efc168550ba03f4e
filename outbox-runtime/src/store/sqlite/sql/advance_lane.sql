-- Lets lane ?2 of stage ?1 go on after its head has changed: a replayed event is due at once; else a dead letter that
-- parks the key makes the lane wait for a request; else its next event is due at once.
UPDATE {outbox_waiting}
   SET next_at = CASE
       WHEN EXISTS (SELECT 1 FROM {outbox_dead_letter} WHERE stage = ?1 AND lane = ?2 AND replaying)
         OR NOT EXISTS (SELECT 1 FROM {outbox_dead_letter} WHERE stage = ?1 AND lane = ?2 AND parks_key)
       THEN CAST(unixepoch('subsec') * 1000 AS INTEGER) END
 WHERE stage = ?1 AND lane = ?2
