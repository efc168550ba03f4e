-- Discards dead letter ?1.
DELETE FROM {outbox_dead_letter} WHERE dead_letter_id = ?1 RETURNING lane, parks_key
