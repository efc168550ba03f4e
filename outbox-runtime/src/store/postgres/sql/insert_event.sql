-- Writes one event in the caller's transaction. No RETURNING, which would need SELECT on the log.
-- The WHERE is always true. It raises `synchronous_commit` from `off` for this transaction, because a reader would pass
-- on an event that a crash takes back, and its number would be given out again.
INSERT INTO {outbox_log} (id, topic, key, event_type, event_version, payload, source, dataschema, headers, traceparent,
                          tracestate, twin_id, twin_version, on_poison)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14
 WHERE CASE WHEN pg_catalog.texteq(pg_catalog.current_setting('synchronous_commit'), 'off')
            THEN pg_catalog.set_config('synchronous_commit', 'on', true) IS NOT NULL
            ELSE true END
