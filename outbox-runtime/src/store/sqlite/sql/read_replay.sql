-- The next events of replay ?1, at most ?2.
SELECT log.*
  FROM {outbox_replay} AS replay
  JOIN {outbox_log} AS log ON log.seq >= replay.next_seq AND log.seq <= replay.last_seq
 WHERE replay.replay_id = ?1
   AND (replay.since IS NULL OR log.occurred_at >= replay.since)
   AND (replay.until IS NULL OR log.occurred_at < replay.until)
   AND (replay.topics IS NULL OR log.topic IN (SELECT value FROM json_each(replay.topics)))
   AND (replay.types IS NULL OR log.event_type IN (SELECT value FROM json_each(replay.types)))
   AND (replay.key IS NULL OR log.key = replay.key)
 ORDER BY log.seq
 LIMIT ?2
