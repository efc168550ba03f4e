-- Takes the requests of the dead letters $1, in their order. The caller's transaction holds the fence and the marks of their
-- lanes. The dead letters are locked first, and in order: see insert_requests.sql.
WITH dead AS MATERIALIZED (
    SELECT number, lane FROM {outbox_dead_letter} WHERE number = ANY ($1::pg_catalog.int8[]) ORDER BY number FOR UPDATE
), taken AS (
    DELETE FROM {outbox_request} AS request
     USING dead
     WHERE request.dead_letter = dead.number
    RETURNING request.dead_letter, request.request, request.requested_at, dead.lane
)
SELECT dead_letter, request, lane FROM taken ORDER BY requested_at, dead_letter
