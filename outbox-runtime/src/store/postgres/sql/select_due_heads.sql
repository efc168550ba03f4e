-- The heads of the lanes of stage $1, share $2, that are due, at most $3, the longest due first. In a lane that is parked only
-- an event that was asked for is due: what is held before it still waits for the dead letter.
SELECT head.*
  FROM {outbox_waiting} AS waiting
 CROSS JOIN LATERAL (
       SELECT seq, occurred_at, id, topic, key, event_type, event_version, payload, source, dataschema, headers,
              traceparent, tracestate, twin_id, twin_version, on_poison, attempts, replayed,
              coalesce(reason IN ('process-ended', 'connection-lost'), false) AS tried_alone
         FROM {outbox_held} AS held
        WHERE held.stage = waiting.stage AND held.lane = waiting.lane
          AND (held.replayed OR NOT EXISTS (
               SELECT FROM {outbox_dead_letter} AS dead
                WHERE dead.stage = waiting.stage AND dead.lane = waiting.lane AND dead.parks_key
                  AND NOT dead.replaying))
        ORDER BY held.seq, held.source, held.id
        LIMIT 1
 ) AS head
 WHERE waiting.stage = $1 AND waiting.share = $2 AND waiting.next_at <= pg_catalog.statement_timestamp()
 ORDER BY waiting.next_at, waiting.lane
 LIMIT $3
