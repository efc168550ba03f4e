-- Enters an event in the inbox of consumer ?1; no row back means that it stands there already, or, unless ?4 says that it
-- comes from its own held row, among the dead letters.
INSERT INTO {outbox_inbox} (consumer, source, event_id, handled_at)
SELECT ?1, ?2, ?3, CAST(unixepoch('subsec') * 1000 AS INTEGER)
 WHERE ?4 OR NOT EXISTS (SELECT 1 FROM {outbox_dead_letter} WHERE stage = ?1 AND source = ?2 AND id = ?3)
ON CONFLICT DO NOTHING
RETURNING 1
