-- Holds events of stage $17 in the lanes $18, with the attempts $19 and the failure $20, $21 of the first of them (null for
-- one that only waits); $22: a person asked for them. A row that stands there stays as it is, and so does a dead letter: an event that was set aside
-- and comes again is not tried again before a person asks for it.
INSERT INTO {outbox_held} (stage, lane, id, topic, key, event_type, event_version, payload, source, dataschema, headers,
                           traceparent, tracestate, twin_id, twin_version, on_poison, seq, occurred_at, attempts, reason,
                           error_chain, first_failed_at, last_failed_at, replayed)
SELECT $17, event.lane, event.id, event.topic, event.key, event.event_type, event.event_version, event.payload,
       event.source, event.dataschema, event.headers, event.traceparent, event.tracestate, event.twin_id,
       event.twin_version, event.on_poison, event.seq, event.occurred_at, $19, $20, $21, failure.at, failure.at, $22
  FROM unnest($1::pg_catalog.uuid[], $2::pg_catalog.text[], $3::pg_catalog.text[], $4::pg_catalog.text[],
              $5::pg_catalog.int4[], $6::pg_catalog.text[], $7::pg_catalog.text[], $8::pg_catalog.text[],
              $9::pg_catalog.text[], $10::pg_catalog.text[], $11::pg_catalog.text[], $12::pg_catalog.uuid[],
              $13::pg_catalog.int4[], $14::pg_catalog.text[], $15::pg_catalog.int8[], $16::pg_catalog.timestamptz[],
              $18::pg_catalog.text[])
       AS event (id, topic, key, event_type, event_version, payload, source, dataschema, headers, traceparent,
                 tracestate, twin_id, twin_version, on_poison, seq, occurred_at, lane),
       (SELECT CASE WHEN $20::pg_catalog.text IS NOT NULL THEN pg_catalog.clock_timestamp() END AS at) AS failure
 WHERE NOT EXISTS (
       SELECT FROM {outbox_dead_letter} AS dead
        WHERE dead.stage = $17 AND dead.id = event.id AND dead.source = event.source)
ON CONFLICT DO NOTHING
