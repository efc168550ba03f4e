-- The first statement of a handler's transaction. Enters event $3 of source $4 in the inbox of stage $1, and with it its
-- twin $8 if it has one, unless its lane $2 waits or it is older than $6 seconds at $5; $7: it comes from its own held row,
-- which neither of the two stops. A concurrent duplicate waits here until the other transaction ends; both halves of a pair
-- are entered in one order, so that none waits for the other. An event among the dead letters is a duplicate too: it was
-- set aside, and is not tried again before a person asks for it.
WITH half AS MATERIALIZED (
    SELECT half.id
      FROM (VALUES ($3), ($8::pg_catalog.uuid)) AS half (id)
     WHERE half.id IS NOT NULL
), seen AS MATERIALIZED (
    SELECT EXISTS (
               SELECT FROM {outbox_inbox} AS inbox
                WHERE inbox.stage OPERATOR(pg_catalog.=) $1 AND inbox.id OPERATOR(pg_catalog.=) $3
                  AND inbox.source OPERATOR(pg_catalog.=) $4)
        OR EXISTS (
               SELECT FROM {outbox_inbox} AS inbox
                WHERE inbox.stage OPERATOR(pg_catalog.=) $1 AND inbox.id OPERATOR(pg_catalog.=) $8
                  AND inbox.source OPERATOR(pg_catalog.=) $4) AS is_handled,
           NOT $7::pg_catalog.bool AND EXISTS (
               SELECT FROM {outbox_dead_letter} AS dead
                WHERE dead.stage OPERATOR(pg_catalog.=) $1 AND dead.id OPERATOR(pg_catalog.=) $3
                  AND dead.source OPERATOR(pg_catalog.=) $4) AS is_dead,
           NOT $7::pg_catalog.bool AND EXISTS (
               SELECT FROM {outbox_waiting} AS waiting
                WHERE waiting.stage OPERATOR(pg_catalog.=) $1 AND waiting.lane OPERATOR(pg_catalog.=) $2) AS lane_waits,
           NOT $7::pg_catalog.bool
               AND pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) $5)
                   OPERATOR(pg_catalog.>) $6 AS is_old
), claimed AS (
    INSERT INTO {outbox_inbox} (stage, id, source)
    SELECT $1, half.id, $4
      FROM seen, half
     WHERE NOT is_handled AND NOT is_dead AND NOT lane_waits AND NOT is_old
     ORDER BY half.id
    ON CONFLICT DO NOTHING
    RETURNING id
)
SELECT is_handled OR is_dead AS is_duplicate, lane_waits, is_old,
       (SELECT pg_catalog.count(*) FROM claimed) OPERATOR(pg_catalog.=) (SELECT pg_catalog.count(*) FROM half) AS is_fresh,
       CAST(pg_catalog.pg_current_xact_id() AS pg_catalog.text) AS xid
  FROM seen
