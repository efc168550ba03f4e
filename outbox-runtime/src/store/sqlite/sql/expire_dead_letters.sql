-- Asks for the discard of at most ?2 dead letters that failed last more than ?1 milliseconds ago. The leader of their stage
-- acts on it as on that of a person, so that a key which waits goes on. What something is asked of already is left to that.
INSERT INTO {outbox_request} (dead_letter_id, request, requested_at, asked_by, why)
SELECT dead_letter_id, 'discard', CAST(unixepoch('subsec') * 1000 AS INTEGER), 'retention', 'past its retention'
  FROM {outbox_dead_letter} AS dead
 WHERE last_failed_at < CAST(unixepoch('subsec') * 1000 AS INTEGER) - ?1
   AND NOT replaying
   AND NOT EXISTS (SELECT 1 FROM {outbox_request} AS request WHERE request.dead_letter_id = dead.dead_letter_id)
 ORDER BY last_failed_at
 LIMIT ?2
