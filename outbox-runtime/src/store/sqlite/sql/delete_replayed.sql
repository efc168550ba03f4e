-- Removes the dead letter whose replay is done.
DELETE FROM {outbox_dead_letter} WHERE stage = ?1 AND source = ?2 AND id = ?3 AND replaying
