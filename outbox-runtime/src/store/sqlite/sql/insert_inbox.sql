-- Enters an event in the inbox of consumer ?1; no row back means that it stands there already.
INSERT INTO {outbox_inbox} (consumer, source, event_id, handled_at)
VALUES (?1, ?2, ?3, CAST(unixepoch('subsec') * 1000 AS INTEGER))
ON CONFLICT DO NOTHING
RETURNING 1
