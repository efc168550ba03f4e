-- Holds the event of dead letter $1 again, with its attempts at zero. The dead letter stays beside it until it is done. Its
-- reason goes along: what ended a process is tried alone again.
WITH dead AS (
    UPDATE {outbox_dead_letter} SET replaying = true WHERE number = $1
    RETURNING *
)
INSERT INTO {outbox_held} (stage, lane, seq, source, id, topic, key, event_type, event_version, payload, dataschema,
                           headers, traceparent, tracestate, twin_id, twin_version, on_poison, occurred_at, replayed,
                           first_failed_at, reason)
SELECT stage, lane, seq, source, id, topic, key, event_type, event_version, payload, dataschema, headers, traceparent,
       tracestate, twin_id, twin_version, on_poison, occurred_at, true, first_failed_at, reason
  FROM dead
ON CONFLICT (stage, lane, seq, source, id) DO UPDATE SET attempts = 0, replayed = true
