-- Holds an event of lane ?2 of stage ?1; ?22: a person asked for it. A row that stands there already stays as it is, and so does a dead letter: an
-- event that was set aside and comes again is not tried again before a person asks for it.
INSERT INTO {outbox_held} (stage, lane, seq, id, topic, key, event_type, event_version, payload, source, dataschema,
                           headers, traceparent, tracestate, twin_id, twin_version, on_poison, occurred_at,
                           attempts, reason, error_chain, replayed, first_failed_at)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
        CASE WHEN ?20 IS NULL THEN NULL ELSE CAST(unixepoch('subsec') * 1000 AS INTEGER) END
 WHERE NOT EXISTS (SELECT 1 FROM {outbox_dead_letter} WHERE stage = ?1 AND source = ?10 AND id = ?4)
ON CONFLICT DO NOTHING
