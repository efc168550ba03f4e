-- Discards dead letter ?1; gives what names the held row of its replay, if one is under way.
DELETE FROM {outbox_dead_letter} WHERE dead_letter_id = ?1 RETURNING lane, seq, source, id
