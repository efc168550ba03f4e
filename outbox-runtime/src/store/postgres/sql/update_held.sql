-- Records another failed attempt of a held event ($1 stage, $2 lane, $3 seq, $4 source, $5 id), and that its lane is due in
-- $9 seconds. $6 the attempts so far, $7, $8 the failure.
WITH failed AS (
    UPDATE {outbox_held}
       SET attempts = $6, reason = $7, error_chain = $8, last_failed_at = pg_catalog.clock_timestamp(),
           first_failed_at = coalesce(first_failed_at, pg_catalog.clock_timestamp())
     WHERE stage = $1 AND lane = $2 AND seq = $3 AND source = $4 AND id = $5
    RETURNING stage, lane
)
UPDATE {outbox_waiting} AS waiting
   SET next_at = pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $9), parked = false
  FROM failed
 WHERE waiting.stage = failed.stage AND waiting.lane = failed.lane
