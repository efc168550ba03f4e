-- Enters the twin of dead letter ?1 in the inbox of its consumer: who discards one half of a pair discards both, unless the
-- other is a dead letter of its own.
INSERT INTO {outbox_inbox} (consumer, source, event_id, handled_at)
SELECT dead.stage, dead.source, dead.twin_id, CAST(unixepoch('subsec') * 1000 AS INTEGER)
  FROM {outbox_dead_letter} AS dead
 WHERE dead.dead_letter_id = ?1 AND dead.twin_id IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM {outbox_dead_letter} AS twin
                    WHERE twin.stage = dead.stage AND twin.source = dead.source AND twin.id = dead.twin_id)
ON CONFLICT DO NOTHING
