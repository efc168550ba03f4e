-- Dead letters by number, at most $11. A filter that is null (for $1: empty) matches all.
SELECT dead.seq, dead.occurred_at, dead.id, dead.topic, dead.key, dead.event_type, dead.event_version, dead.payload,
       dead.source, dead.dataschema, dead.headers, dead.traceparent, dead.tracestate, dead.twin_id, dead.twin_version,
       dead.on_poison, dead.number, dead.stage, dead.reason, dead.error_chain, dead.attempts, dead.first_failed_at,
       dead.last_failed_at, dead.parks_key,
       dead.replaying OR EXISTS (
           SELECT FROM {outbox_request} WHERE dead_letter = dead.number AND request = 'replay') AS replaying
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
 ORDER BY dead.number
 LIMIT $11
