-- The oldest running replay to stage $1, and how many events of it may be taken up now, at most $2: what its rate allows since
-- the last ones were, but no more than for two seconds, and none while $3 events of replays are held and not parked. The
-- caller's transaction holds the fence.
SELECT replay.number, replay.to_topic, replay.again, replay.last_seq,
       CASE WHEN held.count >= $3 THEN 0
            WHEN replay.per_second IS NULL THEN $2
            ELSE least($2, pg_catalog.floor(replay.per_second * least(coalesce(
                     pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() - replay.taken_at), 1), 2))::pg_catalog.int8)
       END AS may_take
  FROM {outbox_replay} AS replay,
       (SELECT count(*) AS count
          FROM (SELECT
                  FROM {outbox_held} AS held
                  JOIN {outbox_waiting} AS waiting USING (stage, lane)
                 WHERE held.stage = $1 AND held.replayed AND NOT waiting.parked
                 LIMIT $3) AS waiting) AS held
 WHERE replay.stage = $1 AND replay.state = 'running'
 ORDER BY replay.number
 LIMIT 1
   FOR UPDATE OF replay
