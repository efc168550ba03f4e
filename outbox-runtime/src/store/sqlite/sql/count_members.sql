-- How many owners work on stage ?1.
SELECT count(*) FROM {outbox_member}
 WHERE stage = ?1 AND expires_at >= CAST(unixepoch('subsec') * 1000 AS INTEGER)
