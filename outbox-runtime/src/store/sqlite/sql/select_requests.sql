-- The numbers of the dead letters of which something is asked and that match every condition which is not null.
SELECT dead_letter_id
  FROM {outbox_request} JOIN {outbox_dead_letter} AS dead USING (dead_letter_id)
 WHERE (?1 IS NULL OR dead_letter_id IN (SELECT value FROM json_each(?1)))
   AND (?2 IS NULL OR dead.stage = ?2)
   AND (?3 IS NULL OR dead.event_type = ?3)
   AND (?4 IS NULL OR dead.key = ?4)
   AND (?5 IS NULL OR dead.reason = ?5)
   AND (?6 IS NULL OR dead.last_failed_at >= ?6)
   AND (?7 IS NULL OR dead.last_failed_at < ?7)
   AND (?8 IS NULL OR dead.dead_letter_id > ?8)
   AND (?9 IS NULL OR dead.event_version = ?9)
   AND (?10 IS NULL OR dead.id = ?10)
 ORDER BY dead_letter_id
