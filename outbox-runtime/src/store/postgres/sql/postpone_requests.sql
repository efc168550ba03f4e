-- Puts the requests of stage $1, share $2, that were asked for at a limited rate off by as much as the first of them is late:
-- nobody led for a while, and to act on all at once would break the limit. The dead letters are locked first, and in order:
-- see insert_requests.sql.
WITH dead AS MATERIALIZED (
    SELECT dead.number
      FROM {outbox_dead_letter} AS dead
      JOIN {outbox_request} AS request ON request.dead_letter = dead.number
     WHERE dead.stage = $1 AND dead.share = $2 AND request.due_at IS NOT NULL
     ORDER BY dead.number
       FOR UPDATE OF dead
)
UPDATE {outbox_request} AS request
   SET due_at = request.due_at + (
       SELECT greatest(pg_catalog.clock_timestamp() - min(paced.due_at), interval '0')
         FROM {outbox_request} AS paced
         JOIN dead ON dead.number = paced.dead_letter)
  FROM dead
 WHERE dead.number = request.dead_letter AND request.due_at IS NOT NULL
