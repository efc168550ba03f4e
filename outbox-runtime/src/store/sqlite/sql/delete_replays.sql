-- Deletes at most ?2 replays that ended more than ?1 milliseconds ago.
DELETE FROM {outbox_replay}
 WHERE replay_id IN (SELECT replay_id FROM {outbox_replay}
                      WHERE ended_at < CAST(unixepoch('subsec') * 1000 AS INTEGER) - ?1
                      LIMIT ?2)
