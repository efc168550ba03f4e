-- Lets the lease $1 of owner $2 expire at once, and tells those who stand by on channel $3 when that is committed.
WITH released AS (
    UPDATE {outbox_heartbeat} SET expires_at = '-infinity' WHERE lease = $1 AND owner = $2 RETURNING lease
)
SELECT pg_catalog.pg_notify($3, 'freed') FROM released
