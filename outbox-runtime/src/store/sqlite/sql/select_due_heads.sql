-- The heads of the lanes of stage ?1, share ?2, that are due, the longest due first, at most ?3.
SELECT held.*, coalesce(held.reason = 'process-ended', 0) AS ended_process
  FROM {outbox_waiting} AS waiting
  JOIN {outbox_held} AS held
    ON (held.stage, held.lane, held.seq, held.source, held.id) =
       (SELECT stage, lane, seq, source, id FROM {outbox_held}
         WHERE stage = waiting.stage AND lane = waiting.lane
         ORDER BY seq, source, id LIMIT 1)
 WHERE waiting.stage = ?1 AND waiting.share = ?2
   AND waiting.next_at <= CAST(unixepoch('subsec') * 1000 AS INTEGER)
 ORDER BY waiting.next_at
 LIMIT ?3
