-- Deletes at most ?2 entries of the audit log that are older than ?1 milliseconds.
DELETE FROM {outbox_audit}
 WHERE audit_id IN (SELECT audit_id FROM {outbox_audit}
                     WHERE done_at < CAST(unixepoch('subsec') * 1000 AS INTEGER) - ?1
                     ORDER BY done_at
                     LIMIT ?2)
