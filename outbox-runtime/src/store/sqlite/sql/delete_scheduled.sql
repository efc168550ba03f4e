-- Takes event ?1 back in the caller's transaction, with its twin, if it is not due.
DELETE FROM {outbox_scheduled}
 WHERE due_at > CAST(unixepoch('subsec') * 1000 AS INTEGER)
   AND id IN (SELECT ?1 UNION ALL SELECT twin_id FROM {outbox_scheduled} WHERE id = ?1)
