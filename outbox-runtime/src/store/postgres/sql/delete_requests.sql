-- Takes the oldest requests of stage $1, share $2, at most $3, in their order. The caller's transaction holds the fence.
WITH taken AS (
    DELETE FROM {outbox_request}
     WHERE dead_letter IN (
           SELECT request.dead_letter
             FROM {outbox_request} AS request
             JOIN {outbox_dead_letter} AS dead ON dead.number = request.dead_letter
            WHERE dead.stage = $1 AND dead.share = $2
            ORDER BY request.requested_at, request.dead_letter
            LIMIT $3)
    RETURNING dead_letter, request, requested_at
)
SELECT taken.dead_letter, taken.request, dead.lane
  FROM taken
  JOIN {outbox_dead_letter} AS dead ON dead.number = taken.dead_letter
 ORDER BY taken.requested_at, taken.dead_letter
