-- Scheduled events in the order in which they are due, at most $6: of type $1, of key $2, due before $3, behind the one that
-- is due at $4 and has the number $5; null is any.
SELECT number, due_at, id, topic, key, event_type, event_version, payload, source, dataschema, headers, traceparent,
       tracestate, twin_id, twin_version, on_poison
  FROM {outbox_scheduled}
 WHERE ($1::pg_catalog.text IS NULL OR event_type = $1)
   AND ($2::pg_catalog.text IS NULL OR key = $2)
   AND due_at < coalesce($3, 'infinity'::pg_catalog.timestamptz)
   AND (due_at, number) > (coalesce($4, '-infinity'::pg_catalog.timestamptz), coalesce($5, 0::pg_catalog.int8))
 ORDER BY due_at, number
 LIMIT $6
