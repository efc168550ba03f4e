-- A role that enqueues: it writes rows, but neither their numbers nor their leaf, and reads none. It takes a scheduled
-- event back by its id, through a function that does no more.
GRANT USAGE ON SCHEMA {outbox_schema:alone} TO {outbox_role:name};
GRANT SELECT ON {outbox_version} TO {outbox_role:name};
GRANT INSERT (id, topic, key, event_type, event_version, payload, source, dataschema, headers, traceparent, tracestate,
              twin_id, twin_version, on_poison, occurred_at) ON {outbox_log} TO {outbox_role:name};
GRANT USAGE ON SEQUENCE {outbox_seq} TO {outbox_role:name};
GRANT INSERT (due_at, id, topic, key, event_type, event_version, payload, source, dataschema, headers, traceparent,
              tracestate, twin_id, twin_version, on_poison) ON {outbox_scheduled} TO {outbox_role:name};
GRANT EXECUTE ON FUNCTION {outbox_cancel}(uuid) TO {outbox_role:name};
