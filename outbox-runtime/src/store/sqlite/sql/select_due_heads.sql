-- The heads of the lanes of stage ?1, share ?2, that are due, the longest due first, at most ?3. In a lane that is parked only
-- an event that was asked for is due: what is held before it still waits for the dead letter.
SELECT held.*, coalesce(held.reason IN ('process-ended', 'connection-lost'), 0) AS tried_alone
  FROM {outbox_waiting} AS waiting
  JOIN {outbox_held} AS held
    ON (held.stage, held.lane, held.seq, held.source, held.id) =
       (SELECT stage, lane, seq, source, id FROM {outbox_held} AS head
         WHERE stage = waiting.stage AND lane = waiting.lane
           AND (replayed OR NOT EXISTS (
                SELECT 1 FROM {outbox_dead_letter} AS dead
                 WHERE dead.stage = waiting.stage AND dead.lane = waiting.lane AND dead.parks_key
                   AND NOT dead.replaying))
         ORDER BY seq, source, id LIMIT 1)
 WHERE waiting.stage = ?1 AND waiting.share = ?2
   AND waiting.next_at <= CAST(unixepoch('subsec') * 1000 AS INTEGER)
 ORDER BY waiting.next_at
 LIMIT ?3
