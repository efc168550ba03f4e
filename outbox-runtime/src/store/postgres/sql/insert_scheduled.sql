-- Writes events in the caller's transaction that enter the log at the times $15, in the order of the arrays where these
-- are equal. An asynchronous commit is good enough: whoever moves a row has it on disk before the reader sees it.
INSERT INTO {outbox_scheduled} (id, topic, key, event_type, event_version, payload, source, dataschema, headers, traceparent,
                                tracestate, twin_id, twin_version, on_poison, due_at)
SELECT event.*
  FROM unnest($1::pg_catalog.uuid[], $2::pg_catalog.text[], $3::pg_catalog.text[], $4::pg_catalog.text[],
              $5::pg_catalog.int4[], $6::pg_catalog.text[], $7::pg_catalog.text[], $8::pg_catalog.text[],
              $9::pg_catalog.text[], $10::pg_catalog.text[], $11::pg_catalog.text[], $12::pg_catalog.uuid[],
              $13::pg_catalog.int4[], $14::pg_catalog.text[], $15::pg_catalog.timestamptz[]) AS event
