-- Takes back the rest of replay ?1.
UPDATE {outbox_replay} SET state = 'cancelled', ended_at = CAST(unixepoch('subsec') * 1000 AS INTEGER)
 WHERE replay_id = ?1 AND state = 'running'
