-- Whether lease ?1 was given back or has run out.
SELECT EXISTS (SELECT 1 FROM {outbox_leader}
                WHERE lease = ?1 AND expires_at < CAST(unixepoch('subsec') * 1000 AS INTEGER))
