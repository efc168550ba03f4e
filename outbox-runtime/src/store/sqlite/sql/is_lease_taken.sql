-- Whether another than owner ?2 holds the lease ?1; see acquire_lease.sql, which decides.
SELECT EXISTS (
    SELECT 1 FROM {outbox_leader}
     WHERE lease = ?1 AND owner <> ?2 AND expires_at >= CAST(unixepoch('subsec') * 1000 AS INTEGER)
       AND expires_at <= CAST(unixepoch('subsec') * 1000 AS INTEGER) + lasts
)
