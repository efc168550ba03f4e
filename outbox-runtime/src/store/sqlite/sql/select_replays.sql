-- The replays of ranges, the newest first, at most ?1.
SELECT * FROM {outbox_replay} ORDER BY replay_id DESC LIMIT ?1
