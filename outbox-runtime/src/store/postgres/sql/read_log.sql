-- The next rows after seq $1, at most $2.
SELECT log.seq, log.occurred_at, log.id, log.topic, log.key, log.event_type, log.event_version, log.payload, log.source,
       log.dataschema, log.headers, log.traceparent, log.tracestate, log.twin_id, log.twin_version, log.on_poison
  FROM {outbox_log} AS log
 WHERE log.seq > $1
 ORDER BY log.seq
 LIMIT $2
