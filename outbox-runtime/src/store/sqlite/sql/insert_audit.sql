-- Enters ?2, asked for at ?3 (null: now) by ?4 because of ?5, of dead letter ?1 in the audit log. Before it is acted on.
INSERT INTO {outbox_audit} (action, asked_at, asked_by, why, stage, dead_letter_id, id, source, event_type, event_version,
                            topic, key, seq, reason, attempts)
SELECT ?2, coalesce(?3, CAST(unixepoch('subsec') * 1000 AS INTEGER)),
       ?4, ?5, stage, dead_letter_id, id, source, event_type, event_version, topic, key, seq, reason, attempts
  FROM {outbox_dead_letter} WHERE dead_letter_id = ?1
