-- Asks for $11 of each dead letter that matches (see select_dead_letters.sql), asked for by $13 because of $14. One that
-- something is asked of already, or that is being replayed and is asked to be replayed, is left out. $12: how many may be
-- acted on in a second; each then has its own time, so that all leaders together keep to it. The rows are locked in order, as
-- delete_requests.sql does, and a request is only touched by a transaction that has its dead letter locked: so nobody waits
-- in a circle.
WITH wanted AS MATERIALIZED (
    SELECT dead.number
      FROM {outbox_dead_letter} AS dead
     WHERE ($1::pg_catalog.int8[] = '{}' OR dead.number = ANY ($1::pg_catalog.int8[]))
       AND ($2::pg_catalog.text IS NULL OR dead.stage = $2)
       AND ($3::pg_catalog.text IS NULL OR dead.event_type = $3)
       AND ($4::pg_catalog.text IS NULL OR dead.key = $4)
       AND ($5::pg_catalog.text IS NULL OR dead.reason = $5)
       AND ($6::pg_catalog.timestamptz IS NULL OR dead.last_failed_at >= $6)
       AND ($7::pg_catalog.timestamptz IS NULL OR dead.last_failed_at < $7)
       AND ($8::pg_catalog.int8 IS NULL OR dead.number > $8)
       AND ($9::pg_catalog.int4 IS NULL OR dead.event_version = $9)
       AND ($10::pg_catalog.uuid IS NULL OR dead.id = $10)
       AND NOT (dead.replaying AND $11 = 'replay')
       AND NOT EXISTS (SELECT FROM {outbox_request} AS request WHERE request.dead_letter = dead.number)
     ORDER BY dead.number
       FOR KEY SHARE
)
INSERT INTO {outbox_request} (dead_letter, request, due_at, asked_by, why)
SELECT wanted.number, $11,
       asked.at + pg_catalog.make_interval(
           secs => (row_number() OVER (ORDER BY wanted.number) - 1)::pg_catalog.float8 / $12::pg_catalog.int8),
       $13, $14
  FROM wanted, (SELECT pg_catalog.clock_timestamp() AS at) AS asked
ON CONFLICT DO NOTHING
