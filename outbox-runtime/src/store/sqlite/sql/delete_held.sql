-- Removes a held event.
DELETE FROM {outbox_held} WHERE stage = ?1 AND lane = ?2 AND seq = ?3 AND source = ?4 AND id = ?5
RETURNING replayed, first_failed_at
