-- Records that of replay ?1 the events before seq ?2 are done with: ?3 more were taken up, ?4 left out.
UPDATE {outbox_replay}
   SET next_seq = ?2, taken = taken + ?3, left_out = left_out + ?4, taken_at = CAST(unixepoch('subsec') * 1000 AS INTEGER),
       state = CASE WHEN ?2 > last_seq AND state = 'running' THEN 'done' ELSE state END,
       ended_at = CASE WHEN ?2 > last_seq AND state = 'running' THEN CAST(unixepoch('subsec') * 1000 AS INTEGER) ELSE ended_at END
 WHERE replay_id = ?1
