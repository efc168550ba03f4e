-- Lets lane $2 of stage $1 go on after its head has changed; the caller's transaction has locked the mark before this
-- snapshot was taken. A replayed event is due at once; else a dead letter that parks the key makes the lane wait for a
-- request; else its next event is due at once; and a lane of none of these waits no more.
WITH lane AS (
    SELECT EXISTS (SELECT FROM {outbox_held} WHERE stage = $1 AND lane = $2) AS has_held,
           EXISTS (SELECT FROM {outbox_dead_letter} WHERE stage = $1 AND lane = $2 AND replaying) AS has_replayed,
           EXISTS (SELECT FROM {outbox_dead_letter}
                    WHERE stage = $1 AND lane = $2 AND parks_key AND NOT replaying) AS is_parked
), lifted AS (
    DELETE FROM {outbox_waiting} AS waiting
     USING lane
     WHERE waiting.stage = $1 AND waiting.lane = $2 AND NOT lane.has_held AND NOT lane.is_parked
)
UPDATE {outbox_waiting} AS waiting
   SET parked = lane.is_parked AND NOT lane.has_replayed,
       next_at = CASE WHEN lane.has_replayed OR NOT lane.is_parked THEN pg_catalog.clock_timestamp() END
  FROM lane
 WHERE waiting.stage = $1 AND waiting.lane = $2 AND (lane.has_held OR lane.is_parked)
