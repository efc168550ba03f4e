-- Marks the lanes $3 of stage $1, share $2, as waiting, due in $4 seconds; a lane that waits keeps its time. Locks the
-- marks of all to the end of the transaction (WHERE false updates nothing, yet locks), so that whoever looks for the last
-- held event of a lane sees every event that another transaction puts behind it, or is seen by it. In order, because two
-- transactions that lock the same lanes in two orders wait for each other.
INSERT INTO {outbox_waiting} AS waiting (stage, share, lane, next_at)
SELECT $1, $2, lane, pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $4)
  FROM pg_catalog.unnest($3::pg_catalog.text[]) AS lane
 GROUP BY lane
 ORDER BY lane
ON CONFLICT (stage, lane) DO UPDATE SET share = EXCLUDED.share WHERE false
