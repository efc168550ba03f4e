-- Holds the event of dead letter ?1 again, with its attempts at zero. Its reason goes along: what ended a process is tried
-- alone again.
INSERT INTO {outbox_held} (stage, lane, seq, id, topic, key, event_type, event_version, payload, source, dataschema,
                           headers, traceparent, tracestate, twin_id, twin_version, on_poison, occurred_at,
                           attempts, replayed, first_failed_at, reason)
SELECT stage, lane, seq, id, topic, key, event_type, event_version, payload, source, dataschema,
       headers, traceparent, tracestate, twin_id, twin_version, on_poison, occurred_at, 0, 1, first_failed_at, reason
  FROM {outbox_dead_letter} WHERE dead_letter_id = ?1
ON CONFLICT DO UPDATE SET attempts = 0, replayed = 1
