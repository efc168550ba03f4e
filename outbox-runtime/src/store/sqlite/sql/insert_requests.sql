-- Asks ?11 of the dead letters that match every condition which is not null, asked for by ?13 because of ?14. One that
-- something is asked of already, or that is being replayed and is asked to be replayed, is left as it is. ?12: how many may
-- be acted on in a second; each then has its own time.
INSERT INTO {outbox_request} (dead_letter_id, request, requested_at, due_at, asked_by, why)
SELECT dead_letter_id, ?11, CAST(unixepoch('subsec') * 1000 AS INTEGER),
       CAST(unixepoch('subsec') * 1000 AS INTEGER) + (row_number() OVER (ORDER BY dead_letter_id) - 1) * 1000 / ?12,
       ?13, ?14
  FROM {outbox_dead_letter} AS dead
 WHERE NOT (replaying AND ?11 = 'replay')
   AND NOT EXISTS (SELECT 1 FROM {outbox_request} AS request WHERE request.dead_letter_id = dead.dead_letter_id)
   AND (?1 IS NULL OR dead_letter_id IN (SELECT value FROM json_each(?1)))
   AND (?2 IS NULL OR stage = ?2)
   AND (?3 IS NULL OR event_type = ?3)
   AND (?4 IS NULL OR key = ?4)
   AND (?5 IS NULL OR reason = ?5)
   AND (?6 IS NULL OR last_failed_at >= ?6)
   AND (?7 IS NULL OR last_failed_at < ?7)
   AND (?8 IS NULL OR dead_letter_id > ?8)
   AND (?9 IS NULL OR event_version = ?9)
   AND (?10 IS NULL OR id = ?10)
