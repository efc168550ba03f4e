-- Records that of replay $1 the events before seq $2 are done with: $3 more were taken up, $4 left out.
UPDATE {outbox_replay}
   SET next_seq = $2, taken = taken + $3, left_out = left_out + $4, taken_at = pg_catalog.clock_timestamp(),
       state = CASE WHEN $2 > last_seq AND state = 'running' THEN 'done' ELSE state END,
       ended_at = CASE WHEN $2 > last_seq AND state = 'running' THEN pg_catalog.clock_timestamp() ELSE ended_at END
 WHERE number = $1
