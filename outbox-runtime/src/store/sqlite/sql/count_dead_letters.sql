-- How many dead letters match every condition which is not null, by what a person decides by.
SELECT stage, event_type, event_version, reason, count(*) AS letters,
       count(*) FILTER (WHERE EXISTS (SELECT 1 FROM {outbox_request} AS request WHERE request.dead_letter_id = dead.dead_letter_id))
           AS requested,
       count(*) FILTER (WHERE replaying AND NOT EXISTS (
           SELECT 1 FROM {outbox_request} AS request WHERE request.dead_letter_id = dead.dead_letter_id)) AS replaying,
       count(*) FILTER (WHERE parks_key) AS parking,
       min(dead_letter_id) AS oldest, max(dead_letter_id) AS newest
  FROM {outbox_dead_letter} AS dead
 WHERE (?1 IS NULL OR dead_letter_id IN (SELECT value FROM json_each(?1)))
   AND (?2 IS NULL OR stage = ?2)
   AND (?3 IS NULL OR event_type = ?3)
   AND (?4 IS NULL OR key = ?4)
   AND (?5 IS NULL OR reason = ?5)
   AND (?6 IS NULL OR last_failed_at >= ?6)
   AND (?7 IS NULL OR last_failed_at < ?7)
   AND (?8 IS NULL OR dead_letter_id > ?8)
   AND (?9 IS NULL OR event_version = ?9)
   AND (?10 IS NULL OR id = ?10)
 GROUP BY stage, event_type, event_version, reason
 ORDER BY stage, event_type, event_version, reason
