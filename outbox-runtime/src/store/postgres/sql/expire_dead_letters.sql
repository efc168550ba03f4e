-- Asks for the discard of at most $2 dead letters that failed last more than $1 seconds ago. The leader of their stage acts on
-- it as on that of a person, so that a key which waits goes on. What something is asked of already is left to that.
WITH old AS MATERIALIZED (
    SELECT dead.number
      FROM {outbox_dead_letter} AS dead
     WHERE dead.last_failed_at < pg_catalog.statement_timestamp() - pg_catalog.make_interval(secs => $1)
       AND NOT dead.replaying
       AND NOT EXISTS (SELECT FROM {outbox_request} AS request WHERE request.dead_letter = dead.number)
     ORDER BY dead.last_failed_at
     LIMIT $2
       FOR KEY SHARE OF dead SKIP LOCKED
)
INSERT INTO {outbox_request} (dead_letter, request, asked_by, why)
SELECT number, 'discard', 'retention', 'past its retention' FROM old ORDER BY number
ON CONFLICT DO NOTHING
