-- Keeps everybody from taking a lease of stage $1 to the end of the transaction; a row for each, whether it is held.
SELECT expires_at > pg_catalog.clock_timestamp()
   AND (lasts IS NULL OR expires_at <= pg_catalog.clock_timestamp() + lasts)
  FROM {outbox_heartbeat}
 WHERE pg_catalog.split_part(lease, '#', 1) = $1
   FOR UPDATE
