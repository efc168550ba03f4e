-- Entries of the audit log by number, at most ?5, that match every condition which is not null.
SELECT *
  FROM {outbox_audit}
 WHERE (?1 IS NULL OR stage = ?1)
   AND (?2 IS NULL OR id = ?2)
   AND (?3 IS NULL OR done_at >= ?3)
   AND (?4 IS NULL OR audit_id > ?4)
 ORDER BY audit_id
 LIMIT ?5
