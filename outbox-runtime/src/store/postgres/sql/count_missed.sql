-- For each stage that has not settled all of the leaf: how many rows of the leaf it misses when they go, counted up to $1.
WITH RECURSIVE stage AS (
    (SELECT stage, settled_seq, holes FROM {outbox_progress} ORDER BY stage DESC, id DESC LIMIT 1)
     UNION ALL
    SELECT next.stage, next.settled_seq, next.holes
      FROM stage
     CROSS JOIN LATERAL (
           SELECT progress.stage, progress.settled_seq, progress.holes
             FROM {outbox_progress} AS progress
            WHERE progress.stage < stage.stage
            ORDER BY progress.stage DESC, progress.id DESC
            LIMIT 1) AS next
), missed AS (
    SELECT stage.stage, least(above.count + late.count, $1) AS count
      FROM stage
     CROSS JOIN LATERAL (
           SELECT count(*)
             FROM (SELECT FROM {outbox_leaf} AS log WHERE log.seq > stage.settled_seq LIMIT $1) AS log) AS above
     CROSS JOIN LATERAL (
           SELECT count(*)
             FROM (SELECT FROM (
                          SELECT hole.first_seq, hole.last_seq FROM {outbox_hole} AS hole WHERE hole.stage = stage.stage
                           UNION ALL
                          SELECT stage.holes[at], stage.holes[at + 1]
                            FROM pg_catalog.generate_series(1, pg_catalog.cardinality(stage.holes), 2) AS at) AS hole
                     JOIN {outbox_leaf} AS log ON log.seq BETWEEN hole.first_seq AND hole.last_seq
                    LIMIT $1) AS log) AS late
)
SELECT stage, count FROM missed WHERE count > 0
