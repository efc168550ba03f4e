-- Entries of the audit log by number, at most $5. A condition that is null matches all.
SELECT number, action, asked_by, why, asked_at, done_at, stage, dead_letter, id, source, event_type, event_version, topic,
       key, seq, reason, attempts
  FROM {outbox_audit}
 WHERE ($1::pg_catalog.text IS NULL OR stage = $1)
   AND ($2::pg_catalog.uuid IS NULL OR id = $2)
   AND ($3::pg_catalog.timestamptz IS NULL OR done_at >= $3)
   AND ($4::pg_catalog.int8 IS NULL OR number > $4)
 ORDER BY number
 LIMIT $5
