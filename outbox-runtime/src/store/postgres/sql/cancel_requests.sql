-- Takes back what was asked of dead letters that match (see select_dead_letters.sql) and was not acted on, on behalf of $11
-- because of $12, and enters that in the audit log. The dead letters are locked first, and in order: see
-- insert_requests.sql.
WITH dead AS MATERIALIZED (
    SELECT dead.stage, dead.number, dead.id, dead.source, dead.event_type, dead.event_version, dead.topic, dead.key, dead.seq,
           dead.reason, dead.attempts
      FROM {outbox_dead_letter} AS dead
     WHERE EXISTS (SELECT FROM {outbox_request} AS request WHERE request.dead_letter = dead.number)
       AND ($1::pg_catalog.int8[] = '{}' OR dead.number = ANY ($1::pg_catalog.int8[]))
       AND ($2::pg_catalog.text IS NULL OR dead.stage = $2)
       AND ($3::pg_catalog.text IS NULL OR dead.event_type = $3)
       AND ($4::pg_catalog.text IS NULL OR dead.key = $4)
       AND ($5::pg_catalog.text IS NULL OR dead.reason = $5)
       AND ($6::pg_catalog.timestamptz IS NULL OR dead.last_failed_at >= $6)
       AND ($7::pg_catalog.timestamptz IS NULL OR dead.last_failed_at < $7)
       AND ($8::pg_catalog.int8 IS NULL OR dead.number > $8)
       AND ($9::pg_catalog.int4 IS NULL OR dead.event_version = $9)
       AND ($10::pg_catalog.uuid IS NULL OR dead.id = $10)
     ORDER BY dead.number
       FOR UPDATE
), cancelled AS (
    DELETE FROM {outbox_request} AS request
     USING dead
     WHERE request.dead_letter = dead.number
    RETURNING dead.*
)
INSERT INTO {outbox_audit} (action, asked_by, why, asked_at, stage, dead_letter, id, source, event_type, event_version,
                            topic, key, seq, reason, attempts)
SELECT 'cancel', $11, $12, pg_catalog.clock_timestamp(), cancelled.* FROM cancelled ORDER BY number
