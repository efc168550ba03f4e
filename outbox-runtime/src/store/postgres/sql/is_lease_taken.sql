-- Whether another than owner $2 holds the lease $1; locks nothing. See acquire_lease.sql, which decides.
SELECT EXISTS (
    SELECT FROM {outbox_heartbeat}
     WHERE lease = $1 AND owner <> $2 AND expires_at > pg_catalog.clock_timestamp()
       AND expires_at <= pg_catalog.clock_timestamp() + lasts
)
