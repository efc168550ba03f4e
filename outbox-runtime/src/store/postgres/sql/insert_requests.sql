-- Asks for $9 of each dead letter that matches (see select_dead_letters.sql). One that was asked for already, or that is
-- being replayed and is asked to be replayed, is left out. The rows are locked in order, as delete_requests.sql does, and a
-- request is only touched by a transaction that has its dead letter locked: so nobody waits in a circle.
INSERT INTO {outbox_request} (dead_letter, request)
SELECT dead.number, $9
  FROM {outbox_dead_letter} AS dead
 WHERE ($1::pg_catalog.int8[] = '{}' OR dead.number = ANY ($1::pg_catalog.int8[]))
   AND ($2::pg_catalog.text IS NULL OR dead.stage = $2)
   AND ($3::pg_catalog.text IS NULL OR dead.event_type = $3)
   AND ($4::pg_catalog.text IS NULL OR dead.key = $4)
   AND ($5::pg_catalog.text IS NULL OR dead.reason = $5)
   AND ($6::pg_catalog.timestamptz IS NULL OR dead.last_failed_at >= $6)
   AND ($7::pg_catalog.timestamptz IS NULL OR dead.last_failed_at < $7)
   AND ($8::pg_catalog.int8 IS NULL OR dead.number > $8)
   AND NOT (dead.replaying AND $9 = 'replay')
 ORDER BY dead.number
   FOR KEY SHARE
ON CONFLICT DO NOTHING
