-- Forgets at most $2 handled events that are older than $1 seconds; an older delivery is refused by its age.
DELETE FROM {outbox_inbox}
 WHERE ctid IN (
       SELECT ctid FROM {outbox_inbox}
        WHERE handled_at < pg_catalog.clock_timestamp() - pg_catalog.make_interval(secs => $1)
        ORDER BY handled_at
        LIMIT $2
          FOR UPDATE SKIP LOCKED)
