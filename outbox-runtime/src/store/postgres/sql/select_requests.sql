-- The oldest requests of stage $1, share $2, that are due, at most $3: the dead letters' numbers, their lanes, and by how many
-- seconds those come late that were asked for at a limited rate.
SELECT request.dead_letter, dead.lane,
       coalesce(pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() - request.due_at), 0) AS late_secs
  FROM {outbox_request} AS request
  JOIN {outbox_dead_letter} AS dead ON dead.number = request.dead_letter
 WHERE dead.stage = $1 AND dead.share = $2
   AND (request.due_at IS NULL OR request.due_at <= pg_catalog.clock_timestamp())
 ORDER BY coalesce(request.due_at, request.requested_at), request.dead_letter
 LIMIT $3
