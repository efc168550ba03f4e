-- A row for each stage that has progress, held events or dead letters, with its counts.
WITH stages AS (
    SELECT stage FROM {outbox_progress}
    UNION SELECT stage FROM {outbox_waiting}
    UNION SELECT stage FROM {outbox_dead_letter}
    UNION SELECT stage FROM {outbox_member}
)
SELECT stage,
       (SELECT count(*) FROM {outbox_log} AS log, {outbox_progress} AS progress
         WHERE progress.stage = stages.stage AND log.seq > progress.settled_seq) AS lag,
       EXISTS (SELECT 1 FROM {outbox_progress} WHERE stage = stages.stage) AS reads_log,
       (SELECT count(*) FROM {outbox_held} WHERE stage = stages.stage) AS held,
       (SELECT count(*) FROM {outbox_waiting} WHERE stage = stages.stage) AS waiting_keys,
       (SELECT count(*) FROM {outbox_waiting} WHERE stage = stages.stage AND next_at IS NULL) AS parked_keys,
       (SELECT count(*) FROM {outbox_dead_letter} WHERE stage = stages.stage) AS dead_letters,
       EXISTS (SELECT 1 FROM {outbox_leader}
                WHERE (lease = stages.stage OR substr(lease, 1, length(stages.stage) + 1) = stages.stage || '#')
                  AND expires_at >= CAST(unixepoch('subsec') * 1000 AS INTEGER)) AS led
  FROM stages
 ORDER BY stage
