-- Removes a held event that is done ($1 stage, $2 lane, $3 seq, $4 source, $5 id), and its dead letter if it was replayed.
WITH done AS (
    DELETE FROM {outbox_held}
     WHERE stage = $1 AND lane = $2 AND seq = $3 AND source = $4 AND id = $5
    RETURNING stage, source, id, replayed
)
DELETE FROM {outbox_dead_letter} AS dead
 USING done
 WHERE done.replayed AND dead.stage = done.stage AND dead.source = done.source AND dead.id = done.id
