-- Removes the mark of lane ?2 of stage ?1 if nothing of it is held any more and nothing of it waits for a request.
DELETE FROM {outbox_waiting}
 WHERE stage = ?1 AND lane = ?2
   AND NOT EXISTS (SELECT 1 FROM {outbox_held} WHERE stage = ?1 AND lane = ?2)
   AND NOT EXISTS (SELECT 1 FROM {outbox_dead_letter}
                    WHERE stage = ?1 AND lane = ?2 AND parks_key AND NOT replaying)
