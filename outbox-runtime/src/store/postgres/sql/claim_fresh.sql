-- The claim of an event that is new and has no twin, as nearly all are; parameters as in claim_event, which says why there
-- is no row here. A short plan: one of several parts takes longer to begin than the rest of a small transaction.
INSERT INTO {outbox_inbox} (stage, id, source)
SELECT $1, $3, $4
 WHERE pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) $5) OPERATOR(pg_catalog.<=) $6
   AND NOT EXISTS (
           SELECT FROM {outbox_dead_letter} AS dead
            WHERE dead.stage OPERATOR(pg_catalog.=) $1 AND dead.id OPERATOR(pg_catalog.=) $3
              AND dead.source OPERATOR(pg_catalog.=) $4)
   AND NOT EXISTS (
           SELECT FROM {outbox_waiting} AS waiting
            WHERE waiting.stage OPERATOR(pg_catalog.=) $1 AND waiting.lane OPERATOR(pg_catalog.=) $2)
ON CONFLICT DO NOTHING
RETURNING CAST(pg_catalog.pg_current_xact_id() AS pg_catalog.text)
