-- The oldest requests of stage $1, share $2, at most $3: the dead letters' numbers and their lanes.
SELECT request.dead_letter, dead.lane
  FROM {outbox_request} AS request
  JOIN {outbox_dead_letter} AS dead ON dead.number = request.dead_letter
 WHERE dead.stage = $1 AND dead.share = $2
 ORDER BY request.requested_at, request.dead_letter
 LIMIT $3
