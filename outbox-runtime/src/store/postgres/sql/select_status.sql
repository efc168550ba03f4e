-- A row for each stage that has progress, members, a lease, waiting keys or dead letters, with its counts.
WITH progress AS (
    SELECT DISTINCT ON (stage) stage, settled_seq FROM {outbox_progress} ORDER BY stage, id DESC
), lease AS (
    SELECT pg_catalog.split_part(lease, '#', 1) AS stage,
           pg_catalog.bool_or(expires_at > pg_catalog.clock_timestamp()) AS is_live
      FROM {outbox_heartbeat}
     WHERE lease LIKE 'relay/%' OR lease LIKE 'consumer/%'
     GROUP BY 1
), stages AS (
    SELECT stage FROM progress
     UNION SELECT stage FROM lease
     UNION SELECT stage FROM {outbox_member}
     UNION SELECT stage FROM {outbox_waiting}
     UNION SELECT stage FROM {outbox_dead_letter}
)
SELECT stage,
       CASE WHEN progress.stage IS NOT NULL THEN
            (SELECT count(*) FROM {outbox_log} AS log WHERE log.seq > progress.settled_seq) END AS lag,
       (SELECT count(*) FROM {outbox_held} AS held WHERE held.stage = stages.stage) AS held,
       (SELECT count(*) FROM {outbox_waiting} AS waiting WHERE waiting.stage = stages.stage) AS waiting_keys,
       (SELECT count(*) FROM {outbox_waiting} AS waiting WHERE waiting.stage = stages.stage AND waiting.parked)
           AS parked_keys,
       (SELECT count(*) FROM {outbox_dead_letter} AS dead WHERE dead.stage = stages.stage) AS dead_letters,
       coalesce(lease.is_live, false) AS led
  FROM stages
  LEFT JOIN progress USING (stage)
  LEFT JOIN lease USING (stage)
 ORDER BY stage
