-- The leaves of the ring whose newest row is older than $1 seconds, the oldest first, each with
-- whether every stage has settled it. A stage that lags, or the first one, is waited for
-- $2 seconds more.
WITH stage AS (
    SELECT DISTINCT ON (stage) stage, settled_seq, holes FROM {outbox_progress} ORDER BY stage, id DESC
), leaf AS (
    SELECT ring.slot::pg_catalog.int2 AS slot, newest.seq, newest.occurred_at,
           EXISTS (SELECT FROM stage) AND NOT EXISTS (
               SELECT FROM stage
                WHERE stage.settled_seq < newest.seq OR newest.seq >= ANY (stage.holes)
                   OR EXISTS (
                      SELECT FROM {outbox_hole} AS hole WHERE hole.stage = stage.stage AND hole.first_seq <= newest.seq)
           ) AS is_settled
      FROM pg_catalog.generate_series(0, 7) AS ring (slot)
     CROSS JOIN LATERAL (
           SELECT log.seq, log.occurred_at FROM {outbox_log} AS log WHERE log.slot = ring.slot::pg_catalog.int2
            ORDER BY log.seq DESC LIMIT 1
     ) AS newest
)
SELECT slot, is_settled
  FROM leaf
 WHERE occurred_at < pg_catalog.clock_timestamp() - pg_catalog.make_interval(secs => $1)
   AND (is_settled OR occurred_at < pg_catalog.clock_timestamp() - pg_catalog.make_interval(secs => $1 + $2))
 ORDER BY seq
