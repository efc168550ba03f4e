-- Renews the leases $1 of owner $2 for $3 seconds, and tells which of them it still holds.
UPDATE {outbox_heartbeat}
   SET expires_at = pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $3),
       lasts = pg_catalog.make_interval(secs => $3)
 WHERE lease = ANY ($1::pg_catalog.text[]) AND owner = $2
RETURNING lease
