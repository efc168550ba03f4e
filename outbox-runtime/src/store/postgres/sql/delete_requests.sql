-- Takes the requests of the dead letters $1, in their order, and enters them in the audit log. The caller's transaction holds
-- the fence and the marks of their lanes. The dead letters are locked first, and in order: see insert_requests.sql.
WITH dead AS MATERIALIZED (
    SELECT number, lane, stage, id, source, event_type, event_version, topic, key, seq, reason, attempts
      FROM {outbox_dead_letter}
     WHERE number = ANY ($1::pg_catalog.int8[])
     ORDER BY number
       FOR UPDATE
), taken AS (
    DELETE FROM {outbox_request} AS request
     USING dead
     WHERE request.dead_letter = dead.number
    RETURNING request.dead_letter, request.request, coalesce(request.due_at, request.requested_at) AS due_at,
              request.requested_at, request.asked_by, request.why, dead.lane
), audited AS (
    INSERT INTO {outbox_audit} (action, asked_by, why, asked_at, stage, dead_letter, id, source, event_type,
                                event_version, topic, key, seq, reason, attempts)
    SELECT taken.request, taken.asked_by, taken.why, taken.requested_at, dead.stage, dead.number, dead.id, dead.source,
           dead.event_type, dead.event_version, dead.topic, dead.key, dead.seq, dead.reason, dead.attempts
      FROM taken
      JOIN dead ON dead.number = taken.dead_letter
     ORDER BY taken.due_at, taken.dead_letter
)
SELECT dead_letter, request, lane FROM taken ORDER BY due_at, dead_letter
