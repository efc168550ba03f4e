-- The next events of replay $1, at most $2.
SELECT log.seq, log.occurred_at, log.id, log.topic, log.key, log.event_type, log.event_version, log.payload, log.source,
       log.dataschema, log.headers, log.traceparent, log.tracestate, log.twin_id, log.twin_version, log.on_poison
  FROM {outbox_replay} AS replay
  JOIN {outbox_log} AS log ON log.seq >= replay.next_seq AND log.seq <= replay.last_seq
 WHERE replay.number = $1
   AND (replay.since IS NULL OR log.occurred_at >= replay.since)
   AND (replay.until IS NULL OR log.occurred_at < replay.until)
   AND (replay.topics = '{}' OR log.topic = ANY (replay.topics))
   AND (replay.types = '{}' OR log.event_type = ANY (replay.types))
   AND (replay.key IS NULL OR log.key = replay.key)
 ORDER BY log.seq
 LIMIT $2
