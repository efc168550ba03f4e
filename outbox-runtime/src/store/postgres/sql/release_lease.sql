-- Lets the lease $1 of owner $2 expire at once.
UPDATE {outbox_heartbeat} SET expires_at = '-infinity' WHERE lease = $1 AND owner = $2
