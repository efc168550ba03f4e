-- Appends one event in the caller's transaction; seq and time are the database's.
INSERT INTO {outbox_log} (id, topic, key, event_type, event_version, payload, source, dataschema, headers,
                          traceparent, tracestate, twin_id, twin_version, on_poison)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
