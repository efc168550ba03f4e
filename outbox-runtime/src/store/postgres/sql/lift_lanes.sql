-- Removes the marks of the lanes $2 of stage $1 of which nothing is held and nothing waits for a request; for marks that
-- were set for events which turned out to be set aside already. The caller's transaction has locked the marks.
DELETE FROM {outbox_waiting} AS waiting
 WHERE stage = $1 AND lane = ANY ($2::pg_catalog.text[])
   AND NOT EXISTS (SELECT FROM {outbox_held} AS held WHERE held.stage = $1 AND held.lane = waiting.lane)
   AND NOT EXISTS (
       SELECT FROM {outbox_dead_letter} AS dead
        WHERE dead.stage = $1 AND dead.lane = waiting.lane AND dead.parks_key AND NOT dead.replaying)
