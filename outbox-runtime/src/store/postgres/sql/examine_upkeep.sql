-- How upkeep goes, in ages in seconds: since when nobody leads it (null when somebody does, or gave it back), how long the
-- first scheduled event is due, how long rows are there that it should have removed (a settled leaf of the ring past retention,
-- progress that was replaced), and how old a log is that nobody has ever read, a slot by a publication included.
WITH RECURSIVE progress AS (
    (SELECT stage, id, settled_seq, holes FROM {outbox_progress} ORDER BY stage DESC, id DESC LIMIT 1)
     UNION ALL
    SELECT next.stage, next.id, next.settled_seq, next.holes
      FROM progress
     CROSS JOIN LATERAL (
           SELECT older.stage, older.id, older.settled_seq, older.holes
             FROM {outbox_progress} AS older
            WHERE older.stage < progress.stage
            ORDER BY older.stage DESC, older.id DESC
            LIMIT 1) AS next
), clock AS MATERIALIZED (
    SELECT pg_catalog.clock_timestamp() AS now
), lease AS (
    SELECT expires_at FROM {outbox_heartbeat} WHERE lease = 'upkeep'
), published AS (
    SELECT EXISTS (SELECT FROM pg_catalog.pg_publication_rel
                    WHERE prrelid = {outbox_log:text}::pg_catalog.regclass)
       AND EXISTS (SELECT FROM pg_catalog.pg_replication_slots
                    WHERE database = pg_catalog.current_database()) AS is_read
), leaf AS (
    SELECT newest.seq, newest.occurred_at + pg_catalog.make_interval(secs => version.slot_secs * 6) AS kept_until
      FROM {outbox_version} AS version
     CROSS JOIN pg_catalog.generate_series(0, 7) AS ring (slot)
     CROSS JOIN LATERAL (
           SELECT log.seq, log.occurred_at FROM {outbox_log} AS log WHERE log.slot = ring.slot::pg_catalog.int2
            ORDER BY log.seq DESC LIMIT 1
     ) AS newest
), late AS (
    SELECT leaf.kept_until AS since
      FROM leaf CROSS JOIN published
     WHERE (EXISTS (SELECT FROM progress) OR published.is_read)
       AND NOT EXISTS (
           SELECT FROM progress
            WHERE progress.settled_seq < leaf.seq OR leaf.seq >= ANY (progress.holes)
               OR EXISTS (
                  SELECT FROM {outbox_hole} AS hole WHERE hole.stage = progress.stage AND hole.first_seq <= leaf.seq))
     UNION ALL
    -- The oldest row of a stage was replaced when the one after it was written.
    SELECT (SELECT next.settled_at FROM {outbox_progress} AS next WHERE next.stage = progress.stage
             ORDER BY next.stage, next.id OFFSET 1 LIMIT 1)
      FROM progress
)
SELECT coalesce((SELECT expires_at > clock.now FROM lease), false) AS is_led,
       (SELECT pg_catalog.date_part('epoch', clock.now - expires_at) FROM lease WHERE pg_catalog.isfinite(expires_at))
           AS unled_secs,
       (SELECT pg_catalog.date_part('epoch', clock.now - min(due_at)) FROM {outbox_scheduled}) AS due_secs,
       (SELECT pg_catalog.date_part('epoch', clock.now - min(since)) FROM late) AS late_secs,
       (SELECT pg_catalog.date_part('epoch', clock.now - log.occurred_at) FROM {outbox_log} AS log
         WHERE NOT EXISTS (SELECT FROM progress) AND NOT published.is_read ORDER BY log.seq LIMIT 1) AS unread_secs
  FROM clock CROSS JOIN published
