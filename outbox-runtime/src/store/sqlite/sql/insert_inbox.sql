-- Enters an event in the inbox of consumer ?1; no row back means that it stands there already, or, unless ?4 says that it
-- comes from its own held row, among the dead letters. An event with a twin ?5 enters both halves of the pair, and two rows
-- come back.
INSERT INTO {outbox_inbox} (consumer, source, event_id, handled_at)
SELECT ?1, ?2, half.id, CAST(unixepoch('subsec') * 1000 AS INTEGER)
  FROM (SELECT ?3 AS id UNION SELECT ?5) AS half
 WHERE half.id IS NOT NULL
   AND (?4 OR NOT EXISTS (SELECT 1 FROM {outbox_dead_letter} WHERE stage = ?1 AND source = ?2 AND id = ?3))
ON CONFLICT DO NOTHING
RETURNING 1
