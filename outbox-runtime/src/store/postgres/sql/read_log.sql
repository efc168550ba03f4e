-- The next rows after seq $1, at most $2. The sequence is read after the snapshot was taken, so a row above it was not
-- numbered by it.
SELECT log.seq, log.occurred_at, log.id, log.topic, log.key, log.event_type, log.event_version, log.payload, log.source,
       log.dataschema, log.headers, log.traceparent, log.tracestate, log.twin_id, log.twin_version, log.on_poison,
       (SELECT last_value FROM {outbox_seq}) AS last_given
  FROM {outbox_log} AS log
 WHERE log.seq > $1
 ORDER BY log.seq
 LIMIT $2
