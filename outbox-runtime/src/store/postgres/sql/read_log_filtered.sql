-- As read_log.sql, for a stage that wants only topics $3, event types $4 (empty: all) and headers named $5 with the values
-- $6. The seq of every row is read: a row that is left out would look like a hole. The rest of a row that is not wanted is
-- null. What the reader decides by itself comes along: headers with an escape, which PostgreSQL may not be able to read,
-- and values that are no text.
SELECT log.seq, wanted.*
  FROM {outbox_log} AS log
  LEFT JOIN LATERAL (
       SELECT log.occurred_at, log.id, log.topic, log.key, log.event_type, log.event_version, log.payload, log.source,
              log.dataschema, log.headers, log.traceparent, log.tracestate, log.twin_id, log.twin_version, log.on_poison
        WHERE ($3::text[] = '{}' OR log.topic = ANY ($3::text[]))
          AND ($4::text[] = '{}' OR log.event_type = ANY ($4::text[]))
          AND CASE WHEN pg_catalog.strpos(log.headers, E'\\u') > 0 THEN true ELSE NOT EXISTS (
              SELECT FROM unnest($5::text[], $6::text[]) AS wanted (name, value)
               WHERE NOT EXISTS (
                     SELECT FROM pg_catalog.json_each(log.headers::json) AS header
                      WHERE header.key = wanted.name
                        AND (pg_catalog.json_typeof(header.value) <> 'string' OR header.value #>> '{}' = wanted.value))) END
  ) AS wanted ON true
 WHERE log.seq > $1
 ORDER BY log.seq
 LIMIT $2
