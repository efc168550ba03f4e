-- Takes back what was asked of dead letter ?1.
DELETE FROM {outbox_request} WHERE dead_letter_id = ?1
