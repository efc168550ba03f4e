-- Enters in the audit log that ?2 discards, because of ?3, every event that stage ?1 has set aside or holds. A held event is
-- no dead letter, so it has the number 0, unless its dead letter stands beside it and tells of both.
WITH undelivered AS (
    SELECT dead_letter_id, seq, id, source, event_type, event_version, topic, key, reason, attempts
      FROM {outbox_dead_letter}
     WHERE stage = ?1
    UNION ALL
    SELECT 0, held.seq, held.id, held.source, held.event_type, held.event_version, held.topic, held.key,
           coalesce(held.reason, 'held'), held.attempts
      FROM {outbox_held} AS held
     WHERE held.stage = ?1
       AND NOT EXISTS (
           SELECT 1 FROM {outbox_dead_letter} AS dead
            WHERE dead.stage = held.stage AND dead.id = held.id AND dead.source = held.source)
)
INSERT INTO {outbox_audit} (action, asked_by, why, asked_at, stage, dead_letter_id, id, source, event_type, event_version,
                            topic, key, seq, reason, attempts)
SELECT 'discard', ?2, ?3, CAST(unixepoch('subsec') * 1000 AS INTEGER), ?1, dead_letter_id, id, source, event_type,
       event_version, topic, key, seq, reason, attempts
  FROM undelivered
 ORDER BY seq
