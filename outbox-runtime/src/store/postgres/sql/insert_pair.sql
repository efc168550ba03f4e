-- Writes both versions of a cutover pair in the caller's transaction, numbered one directly after the other. See
-- insert_event.sql for the WHERE. For other drivers only; ours write a pair as any two events.
INSERT INTO {outbox_log} (id, topic, key, event_type, event_version, payload, source, dataschema, headers, traceparent,
                          tracestate, twin_id, twin_version, on_poison)
SELECT event.*
  FROM (VALUES ($1::pg_catalog.uuid, $2::pg_catalog.text, $3::pg_catalog.text, $4::pg_catalog.text, $5::pg_catalog.int4,
                $6::pg_catalog.text, $7::pg_catalog.text, $8::pg_catalog.text, $9::pg_catalog.text,
                $10::pg_catalog.text, $11::pg_catalog.text, $12::pg_catalog.uuid, $13::pg_catalog.int4,
                $14::pg_catalog.text),
               ($15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28)) AS event
 WHERE (SELECT CASE WHEN pg_catalog.texteq(pg_catalog.current_setting('synchronous_commit'), 'off')
                    THEN pg_catalog.set_config('synchronous_commit', 'on', true) IS NOT NULL
                    ELSE true END)
