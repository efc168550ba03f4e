-- Forgets at most $2 entries of the audit log that are older than $1 seconds.
DELETE FROM {outbox_audit}
 WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM {outbox_audit}
        WHERE done_at < pg_catalog.statement_timestamp() - pg_catalog.make_interval(secs => $1)
        ORDER BY done_at
        LIMIT $2
          FOR UPDATE SKIP LOCKED))
