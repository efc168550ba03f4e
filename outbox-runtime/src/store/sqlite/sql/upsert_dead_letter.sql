-- Sets an event of stage ?1 aside. One that comes back from a replay keeps its history: attempts add up.
INSERT INTO {outbox_dead_letter} AS dead (
           stage, lane, share, seq, id, topic, key, event_type, event_version, payload, source, dataschema, headers,
           traceparent, tracestate, twin_id, twin_version, on_poison, occurred_at, attempts, reason, error_chain,
           first_failed_at, last_failed_at, parks_key)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
        coalesce(?23, CAST(unixepoch('subsec') * 1000 AS INTEGER)), CAST(unixepoch('subsec') * 1000 AS INTEGER), ?24)
ON CONFLICT (stage, source, id) DO UPDATE
   SET attempts = dead.attempts + excluded.attempts,
       reason = excluded.reason,
       error_chain = excluded.error_chain,
       last_failed_at = excluded.last_failed_at,
       parks_key = excluded.parks_key,
       replaying = 0
