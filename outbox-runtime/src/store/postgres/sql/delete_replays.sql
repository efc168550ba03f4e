-- Forgets at most $2 replays that ended more than $1 seconds ago.
DELETE FROM {outbox_replay}
 WHERE number = ANY (ARRAY(
       SELECT number FROM {outbox_replay}
        WHERE ended_at < pg_catalog.statement_timestamp() - pg_catalog.make_interval(secs => $1)
        LIMIT $2
          FOR UPDATE SKIP LOCKED))
