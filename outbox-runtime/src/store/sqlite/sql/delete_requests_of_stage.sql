-- Removes what was asked of the dead letters of stage ?1.
DELETE FROM {outbox_request}
 WHERE dead_letter_id IN (SELECT dead_letter_id FROM {outbox_dead_letter} WHERE stage = ?1)
