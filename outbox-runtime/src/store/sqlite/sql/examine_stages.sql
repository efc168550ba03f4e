-- What waits for each stage, in counts up to ?1 and ages in milliseconds: events of the log, attempts that are due, requests,
-- keys that wait, keys that are parked, and dead letters.
WITH clock AS (
    SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now
), waiting AS (
    SELECT stage, sum(next_at < now) AS due, min(next_at) AS due_at, sum(next_at IS NOT NULL) AS waiting,
           (SELECT min(held.first_failed_at) FROM {outbox_held} AS held
             WHERE held.stage = waiting.stage AND EXISTS (
                   SELECT 1 FROM {outbox_waiting} AS lane
                    WHERE lane.stage = held.stage AND lane.lane = held.lane AND lane.next_at IS NOT NULL)) AS waiting_since,
           sum(next_at IS NULL) AS parked,
           (SELECT min(dead.last_failed_at) FROM {outbox_dead_letter} AS dead
             WHERE dead.stage = waiting.stage AND dead.parks_key) AS parked_since
      FROM {outbox_waiting} AS waiting, clock
     GROUP BY stage
), dead AS (
    SELECT stage, count(*) AS letters, sum(last_failed_at > now - 86400000) AS recent, min(last_failed_at) AS oldest_at,
           max(last_failed_at) AS newest_at
      FROM {outbox_dead_letter}, clock
     WHERE NOT replaying
     GROUP BY stage
), request AS (
    SELECT dead.stage, count(*) AS requests, min(coalesce(request.due_at, request.requested_at)) AS requested_at
      FROM {outbox_request} AS request
      JOIN {outbox_dead_letter} AS dead USING (dead_letter_id)
     GROUP BY dead.stage
), stages AS (
    SELECT stage FROM {outbox_progress}
     UNION SELECT stage FROM waiting
     UNION SELECT stage FROM dead
     UNION SELECT stage FROM request
)
SELECT stages.stage,
       EXISTS (SELECT 1 FROM {outbox_leader} AS leader
                WHERE (leader.lease = stages.stage
                       OR substr(leader.lease, 1, length(stages.stage) + 1) = stages.stage || '#')
                  AND leader.expires_at >= now) AS is_led,
       (SELECT count(*) FROM (SELECT 1 FROM {outbox_log} AS log WHERE log.seq > progress.settled_seq LIMIT ?1)) AS unread,
       now - (SELECT CASE WHEN typeof(log.occurred_at) = 'integer' THEN log.occurred_at END FROM {outbox_log} AS log
               WHERE log.seq > progress.settled_seq ORDER BY log.seq LIMIT 1) AS unread_ms,
       due, now - due_at AS due_ms, requests, now - requested_at AS requests_ms,
       waiting, now - waiting_since AS waiting_ms, parked, now - parked_since AS parked_ms,
       letters, recent, now - oldest_at AS oldest_ms, now - newest_at AS newest_ms
  FROM stages, clock
  LEFT JOIN {outbox_progress} AS progress ON progress.stage = stages.stage
  LEFT JOIN waiting ON waiting.stage = stages.stage
  LEFT JOIN dead ON dead.stage = stages.stage
  LEFT JOIN request ON request.stage = stages.stage
 ORDER BY stages.stage
