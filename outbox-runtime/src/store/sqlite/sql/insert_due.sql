-- Writes the scheduled events up to the one that is due at ?1 and has the number ?2 into the log, in the order in which they
-- are due. An event whose id is in the log is there already.
INSERT INTO {outbox_log} (id, topic, key, event_type, event_version, payload, source, dataschema, headers,
                          traceparent, tracestate, twin_id, twin_version, on_poison)
SELECT id, topic, key, event_type, event_version, payload, source, dataschema, headers, traceparent, tracestate, twin_id,
       twin_version, on_poison
  FROM {outbox_scheduled}
 WHERE (due_at, number) <= (?1, ?2)
 ORDER BY due_at, number
    ON CONFLICT (id) DO NOTHING
