-- Notes that dead letter ?1 is being tried again.
UPDATE {outbox_dead_letter} SET replaying = 1 WHERE dead_letter_id = ?1 RETURNING lane
