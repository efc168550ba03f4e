-- Appends both versions of a cutover pair in the caller's transaction, one directly after the other. For other drivers
-- only; ours append a pair as any two events.
INSERT INTO {outbox_log} (id, topic, key, event_type, event_version, payload, source, dataschema, headers,
                          traceparent, tracestate, twin_id, twin_version, on_poison)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14),
       (?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28)
