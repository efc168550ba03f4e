-- Prolongs those leases of the JSON array ?1 that owner ?2 still holds by ?3 milliseconds from now.
UPDATE {outbox_leader}
   SET expires_at = CAST(unixepoch('subsec') * 1000 AS INTEGER) + ?3, lasts = ?3
 WHERE owner = ?2 AND lease IN (SELECT value FROM json_each(?1))
RETURNING lease
