-- The replays of ranges, the newest first, at most $1.
SELECT number, stage, first_seq, last_seq, matched, taken, left_out, state, asked_by, why, asked_at, ended_at
  FROM {outbox_replay}
 ORDER BY number DESC
 LIMIT $1
