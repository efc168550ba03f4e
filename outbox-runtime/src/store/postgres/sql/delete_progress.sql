-- Forgets at most $1 rows of progress that newer ones have replaced. The newest of each stage is found from the last stage
-- down, and what it replaced from there down: of rows that an old snapshot keeps from being cleaned up, none is passed
-- before those that are yet to go.
WITH RECURSIVE newest AS (
    (SELECT stage, id FROM {outbox_progress} ORDER BY stage DESC, id DESC LIMIT 1)
     UNION ALL
    SELECT next.stage, next.id
      FROM newest
     CROSS JOIN LATERAL (
           SELECT progress.stage, progress.id
             FROM {outbox_progress} AS progress
            WHERE progress.stage < newest.stage
            ORDER BY progress.stage DESC, progress.id DESC
            LIMIT 1) AS next
), replaced AS (
    SELECT old.ctid
      FROM newest
     CROSS JOIN LATERAL (
           SELECT progress.ctid
             FROM {outbox_progress} AS progress
            WHERE progress.stage = newest.stage AND progress.id < newest.id
            ORDER BY progress.stage DESC, progress.id DESC
            LIMIT $1) AS old
     LIMIT $1
)
DELETE FROM {outbox_progress} WHERE ctid = ANY (ARRAY(SELECT ctid FROM replaced))
