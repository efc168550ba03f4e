-- Moves the first $4 events that are due into the log, in the order in which they are due, while owner $2 leads the lease
-- $1 in epoch $3. What a transaction is taking back is passed over: it may be open for long.
-- The time is that of the statement's begin, which an index can be asked for; a clock that goes on is asked of every row.
WITH fence AS (
    SELECT lease FROM {outbox_leader} WHERE lease = $1 AND owner = $2 AND epoch = $3 FOR SHARE
), moved AS (
    DELETE FROM {outbox_scheduled} AS scheduled
     USING fence
     WHERE scheduled.ctid = ANY (ARRAY(
           SELECT due.ctid
             FROM {outbox_scheduled} AS due
            WHERE due.due_at <= pg_catalog.statement_timestamp()
            ORDER BY due.due_at, due.number
            LIMIT $4
              FOR UPDATE SKIP LOCKED))
    RETURNING scheduled.*
)
INSERT INTO {outbox_log} (id, topic, key, event_type, event_version, payload, source, dataschema, headers, traceparent,
                          tracestate, twin_id, twin_version, on_poison)
SELECT id, topic, key, event_type, event_version, payload, source, dataschema, headers, traceparent, tracestate, twin_id,
       twin_version, on_poison
  FROM moved
 ORDER BY due_at, number
