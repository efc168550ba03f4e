-- Sets one event of stage $17, share $18 and lane $19 aside, after $20 attempts with the failure $21, $22; $23: later events
-- of its key wait for it. Its held row goes, if it had one. An event that comes back from a replay keeps its history:
-- attempts add up.
WITH event AS (
    SELECT *
      FROM unnest($1::pg_catalog.uuid[], $2::pg_catalog.text[], $3::pg_catalog.text[], $4::pg_catalog.text[],
                  $5::pg_catalog.int4[], $6::pg_catalog.text[], $7::pg_catalog.text[], $8::pg_catalog.text[],
                  $9::pg_catalog.text[], $10::pg_catalog.text[], $11::pg_catalog.text[], $12::pg_catalog.uuid[],
                  $13::pg_catalog.int4[], $14::pg_catalog.text[], $15::pg_catalog.int8[], $16::pg_catalog.timestamptz[])
           AS event (id, topic, key, event_type, event_version, payload, source, dataschema, headers, traceparent,
                     tracestate, twin_id, twin_version, on_poison, seq, occurred_at)
), held AS (
    DELETE FROM {outbox_held} AS held
     USING event
     WHERE held.stage = $17 AND held.lane = $19 AND held.seq = event.seq AND held.source = event.source
       AND held.id = event.id
    RETURNING held.first_failed_at
)
INSERT INTO {outbox_dead_letter} AS dead (
           stage, share, lane, id, topic, key, event_type, event_version, payload, source, dataschema, headers,
           traceparent, tracestate, twin_id, twin_version, on_poison, seq, occurred_at, attempts, reason, error_chain,
           first_failed_at, last_failed_at, parks_key)
SELECT $17, $18, $19, event.*, $20, $21, $22, coalesce((SELECT first_failed_at FROM held), pg_catalog.clock_timestamp()),
       pg_catalog.clock_timestamp(), $23
  FROM event
ON CONFLICT (stage, id, source) DO UPDATE
   SET attempts = dead.attempts + EXCLUDED.attempts, reason = EXCLUDED.reason, error_chain = EXCLUDED.error_chain,
       last_failed_at = EXCLUDED.last_failed_at, parks_key = EXCLUDED.parks_key, replaying = false
