-- Writes one event in the caller's transaction that enters the log at the time ?15.
INSERT INTO {outbox_scheduled} (id, topic, key, event_type, event_version, payload, source, dataschema, headers,
                                traceparent, tracestate, twin_id, twin_version, on_poison, due_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
