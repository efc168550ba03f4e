-- As read_log.sql, for a stage that wants only topics $3 and event types $4 (empty: all). The seq of every row is read:
-- a row that is left out would look like a hole. The rest of a row that is not wanted is null.
SELECT log.seq, wanted.*
  FROM {outbox_log} AS log
  LEFT JOIN LATERAL (
       SELECT log.occurred_at, log.id, log.topic, log.key, log.event_type, log.event_version, log.payload, log.source,
              log.dataschema, log.headers, log.traceparent, log.tracestate, log.twin_id, log.twin_version, log.on_poison
        WHERE ($3::text[] = '{}' OR log.topic = ANY ($3::text[]))
          AND ($4::text[] = '{}' OR log.event_type = ANY ($4::text[]))
  ) AS wanted ON true
 WHERE log.seq > $1
 ORDER BY log.seq
 LIMIT $2
