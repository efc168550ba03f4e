-- Says that owner ?2 works on stage ?1 for ?3 milliseconds from now.
INSERT INTO {outbox_member} (stage, owner, expires_at)
VALUES (?1, ?2, CAST(unixepoch('subsec') * 1000 AS INTEGER) + ?3)
ON CONFLICT (stage, owner) DO UPDATE SET expires_at = excluded.expires_at
