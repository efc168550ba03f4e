-- Discards dead letter $1, and the held row of its replay if one is under way.
WITH dead AS (
    DELETE FROM {outbox_dead_letter} WHERE number = $1
    RETURNING stage, lane, seq, source, id
)
DELETE FROM {outbox_held} AS held
 USING dead
 WHERE held.stage = dead.stage AND held.lane = dead.lane AND held.seq = dead.seq AND held.source = dead.source
   AND held.id = dead.id
