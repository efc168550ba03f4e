-- What waits for each stage, in counts up to $1 and ages in seconds: events of the log, attempts that are due, requests, keys
-- that wait, keys that are parked, and dead letters. The newest progress of each stage is found from the last stage down.
WITH RECURSIVE progress AS (
    (SELECT stage, settled_seq FROM {outbox_progress} ORDER BY stage DESC, id DESC LIMIT 1)
     UNION ALL
    SELECT next.stage, next.settled_seq
      FROM progress
     CROSS JOIN LATERAL (
           SELECT older.stage, older.settled_seq
             FROM {outbox_progress} AS older
            WHERE older.stage < progress.stage
            ORDER BY older.stage DESC, older.id DESC
            LIMIT 1) AS next
), clock AS MATERIALIZED (
    SELECT pg_catalog.clock_timestamp() AS now
), lease AS (
    SELECT pg_catalog.split_part(lease, '#', 1) AS stage, pg_catalog.bool_or(expires_at > clock.now) AS is_live
      FROM {outbox_heartbeat}, clock
     WHERE lease LIKE 'relay/%' OR lease LIKE 'consumer/%'
     GROUP BY 1
), waiting AS (
    SELECT stage,
           count(*) FILTER (WHERE next_at < clock.now) AS due, min(next_at) AS due_at,
           count(*) FILTER (WHERE NOT parked) AS waiting, min(since) FILTER (WHERE NOT parked) AS waiting_since,
           count(*) FILTER (WHERE parked) AS parked, min(since) FILTER (WHERE parked) AS parked_since
      FROM {outbox_waiting}, clock
     GROUP BY stage
), dead AS (
    SELECT stage, count(*) AS letters, count(*) FILTER (WHERE last_failed_at > clock.now - interval '1 day') AS recent,
           min(last_failed_at) AS oldest_at, max(last_failed_at) AS newest_at
      FROM {outbox_dead_letter}, clock
     WHERE NOT replaying
     GROUP BY stage
), request AS (
    SELECT dead.stage, count(*) AS requests, min(coalesce(request.due_at, request.requested_at)) AS requested_at
      FROM {outbox_request} AS request
      JOIN {outbox_dead_letter} AS dead ON dead.number = request.dead_letter
     GROUP BY dead.stage
), stages AS (
    SELECT stage FROM progress
     UNION SELECT stage FROM waiting
     UNION SELECT stage FROM dead
     UNION SELECT stage FROM request
)
SELECT stage, coalesce(lease.is_live, false) AS is_led,
       unread.count AS unread, pg_catalog.date_part('epoch', clock.now - unread.first_at) AS unread_secs,
       waiting.due, pg_catalog.date_part('epoch', clock.now - waiting.due_at) AS due_secs,
       request.requests, pg_catalog.date_part('epoch', clock.now - request.requested_at) AS requests_secs,
       waiting.waiting, pg_catalog.date_part('epoch', clock.now - waiting.waiting_since) AS waiting_secs,
       waiting.parked, pg_catalog.date_part('epoch', clock.now - waiting.parked_since) AS parked_secs,
       dead.letters, dead.recent, pg_catalog.date_part('epoch', clock.now - dead.oldest_at) AS oldest_secs,
       pg_catalog.date_part('epoch', clock.now - dead.newest_at) AS newest_secs
  FROM stages
 CROSS JOIN clock
  LEFT JOIN progress USING (stage)
  LEFT JOIN lease USING (stage)
  LEFT JOIN waiting USING (stage)
  LEFT JOIN dead USING (stage)
  LEFT JOIN request USING (stage)
 CROSS JOIN LATERAL (
       SELECT (SELECT count(*) FROM (SELECT FROM {outbox_log} AS log WHERE log.seq > progress.settled_seq LIMIT $1) AS log),
              (SELECT log.occurred_at FROM {outbox_log} AS log WHERE log.seq > progress.settled_seq ORDER BY log.seq LIMIT 1)
                  AS first_at
 ) AS unread
 ORDER BY stage
