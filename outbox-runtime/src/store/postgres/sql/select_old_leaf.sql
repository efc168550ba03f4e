-- A leaf of the ring whose newest row is older than $1 seconds (or than the ring can hold, if that is less): its slot, the seq
-- of that row, and whether every stage has settled it; before these, how long one leaf takes rows. A stage that lags, or the
-- first one, is waited for $2 seconds more. Where there is none, one that reads a publication of the log by a slot, as Debezium
-- does, counts as the first: it needs no row that is committed, since the WAL has it. Any of them: one that somebody keeps in use for long must not hold up the others.
-- The newest progress of each stage is found from the last stage down, by one step of the index for each.
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
), published AS (
    SELECT EXISTS (SELECT FROM pg_catalog.pg_publication_rel
                    WHERE prrelid = {outbox_log:text}::pg_catalog.regclass)
       AND EXISTS (SELECT FROM pg_catalog.pg_replication_slots
                    WHERE database = pg_catalog.current_database()) AS is_read
), leaf AS (
    SELECT ring.slot::pg_catalog.int2 AS slot, newest.seq, newest.occurred_at,
           (EXISTS (SELECT FROM stage) OR published.is_read) AND NOT EXISTS (
               SELECT FROM stage
                WHERE stage.settled_seq < newest.seq OR newest.seq >= ANY (stage.holes)
                   OR EXISTS (
                      SELECT FROM {outbox_hole} AS hole WHERE hole.stage = stage.stage AND hole.first_seq <= newest.seq)
           ) AS is_settled
      FROM published
     CROSS JOIN pg_catalog.generate_series(0, 7) AS ring (slot)
     CROSS JOIN LATERAL (
           SELECT log.seq, log.occurred_at FROM {outbox_log} AS log WHERE log.slot = ring.slot::pg_catalog.int2
            ORDER BY log.seq DESC LIMIT 1
     ) AS newest
), kept AS (
    SELECT version.slot_secs,
           pg_catalog.make_interval(secs => least($1::pg_catalog.float8, version.slot_secs * 6)) AS span
      FROM {outbox_version} AS version
)
SELECT kept.slot_secs, leaf.slot, leaf.seq, leaf.is_settled
  FROM kept
  LEFT JOIN leaf
    ON leaf.occurred_at < pg_catalog.clock_timestamp() - kept.span
   AND (leaf.is_settled
        OR leaf.occurred_at < pg_catalog.clock_timestamp() - kept.span - pg_catalog.make_interval(secs => $2))
 ORDER BY pg_catalog.random()
 LIMIT 1
