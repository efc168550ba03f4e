-- Owner ?2 no longer works on stage ?1; members that ran out go with it.
DELETE FROM {outbox_member}
 WHERE stage = ?1 AND (owner = ?2 OR expires_at < CAST(unixepoch('subsec') * 1000 AS INTEGER))
