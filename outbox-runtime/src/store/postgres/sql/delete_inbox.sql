-- Forgets at most $2 handled events that are older than $1 seconds; an older delivery is refused by its age. The time is
-- that of the statement's begin, which an index can be asked for; a clock that goes on is asked of every row.
DELETE FROM {outbox_inbox}
 WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM {outbox_inbox}
        WHERE handled_at < pg_catalog.statement_timestamp() - pg_catalog.make_interval(secs => $1)
        ORDER BY handled_at
        LIMIT $2
          FOR UPDATE SKIP LOCKED))
