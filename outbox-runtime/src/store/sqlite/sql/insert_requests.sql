-- Asks ?9 of the dead letters that match every condition which is not null; one already asked for, or that is being
-- replayed and is asked to be replayed, is left as it is.
INSERT INTO {outbox_request} (dead_letter_id, request, requested_at)
SELECT dead_letter_id, ?9, CAST(unixepoch('subsec') * 1000 AS INTEGER) FROM {outbox_dead_letter}
 WHERE NOT (replaying AND ?9 = 'replay')
   AND (?1 IS NULL OR dead_letter_id IN (SELECT value FROM json_each(?1)))
   AND (?2 IS NULL OR stage = ?2)
   AND (?3 IS NULL OR event_type = ?3)
   AND (?4 IS NULL OR key = ?4)
   AND (?5 IS NULL OR reason = ?5)
   AND (?6 IS NULL OR last_failed_at >= ?6)
   AND (?7 IS NULL OR last_failed_at < ?7)
   AND (?8 IS NULL OR dead_letter_id > ?8)
ON CONFLICT (dead_letter_id) DO NOTHING
