-- Forgets at most $1 rows of progress that newer ones have replaced.
DELETE FROM {outbox_progress} AS old
 USING (SELECT progress.stage, progress.id
          FROM {outbox_progress} AS progress
          JOIN (SELECT stage, max(id) AS id FROM {outbox_progress} GROUP BY stage) AS newest USING (stage)
         WHERE progress.id < newest.id
         LIMIT $1) AS replaced
 WHERE old.stage = replaced.stage AND old.id = replaced.id
