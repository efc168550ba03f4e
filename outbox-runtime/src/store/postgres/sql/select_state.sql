-- Where event $1 stands: a row for each place. $2 and $3 bound the time it entered the log at.
SELECT 'dead' AS place, stage FROM {outbox_dead_letter} WHERE id = $1
 UNION ALL
SELECT 'held', stage FROM {outbox_held} WHERE id = $1
 UNION ALL
SELECT 'scheduled', '' FROM {outbox_scheduled} WHERE id = $1
 UNION ALL
SELECT CASE WHEN EXISTS (SELECT FROM {outbox_progress}) AND NOT EXISTS (
                 SELECT
                   FROM (SELECT DISTINCT ON (stage) stage, settled_seq, holes
                           FROM {outbox_progress}
                          ORDER BY stage, id DESC) AS progress
                  WHERE progress.settled_seq < log.seq
                     OR EXISTS (
                        SELECT FROM {outbox_hole} AS hole
                         WHERE hole.stage = progress.stage AND log.seq BETWEEN hole.first_seq AND hole.last_seq)
                     OR EXISTS (
                        SELECT FROM pg_catalog.generate_series(1, pg_catalog.cardinality(progress.holes), 2) AS at
                         WHERE log.seq BETWEEN progress.holes[at] AND progress.holes[at + 1]))
            THEN 'settled' ELSE 'pending' END, ''
  FROM {outbox_log} AS log
 WHERE log.id = $1 AND log.occurred_at BETWEEN $2 AND $3
