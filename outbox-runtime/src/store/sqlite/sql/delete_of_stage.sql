-- Removes what one table has of stage ?1.
DELETE FROM {outbox_table} WHERE stage = ?1
