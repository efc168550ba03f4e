-- Scheduled events in the order in which they are due, at most ?6: of type ?1, of key ?2, due before ?3, behind the one that
-- is due at ?4 and has the number ?5; null is any.
SELECT number AS seq, due_at AS occurred_at, id, topic, key, event_type, event_version, payload, source, dataschema,
       headers, traceparent, tracestate, twin_id, twin_version, on_poison
  FROM {outbox_scheduled}
 WHERE (?1 IS NULL OR event_type = ?1)
   AND (?2 IS NULL OR key = ?2)
   AND (?3 IS NULL OR due_at < ?3)
   AND (due_at, number) > (coalesce(?4, -1), coalesce(?5, 0))
 ORDER BY due_at, number
 LIMIT ?6
