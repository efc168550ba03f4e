-- The rows that have appeared in the holes from $1 to $2, at most $3, and in the same snapshot the lowest transaction id
-- that is still open: where it is above the id of a transaction that began after the hole was seen, whoever took the
-- hole's numbers has ended, and what is not found here never comes. Filter as in read_log_filtered.sql ($4 to $7). Each
-- hole has a limit of its own, and so an order: with the outer one alone the whole log is read in order, hole by hole.
SELECT pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot())::text::bigint AS xmin, late.*
  FROM (SELECT 1) AS always
  LEFT JOIN (
       SELECT log.seq, wanted.*
         FROM unnest($1::bigint[], $2::bigint[]) AS hole (first_seq, last_seq)
        CROSS JOIN LATERAL (
              SELECT * FROM {outbox_log} AS log
               WHERE log.seq BETWEEN hole.first_seq AND hole.last_seq
               ORDER BY log.seq
               LIMIT $3
         ) AS log
         LEFT JOIN LATERAL (
              SELECT log.occurred_at, log.id, log.topic, log.key, log.event_type, log.event_version, log.payload,
                     log.source, log.dataschema, log.headers, log.traceparent, log.tracestate, log.twin_id,
                     log.twin_version, log.on_poison
               WHERE ($4::text[] = '{}' OR log.topic = ANY ($4::text[]))
                 AND ($5::text[] = '{}' OR log.event_type = ANY ($5::text[]))
                 AND CASE WHEN pg_catalog.strpos(log.headers, E'\\u') > 0 THEN true ELSE NOT EXISTS (
                     SELECT FROM unnest($6::text[], $7::text[]) AS wanted (name, value)
                      WHERE NOT EXISTS (
                            SELECT FROM pg_catalog.json_each(log.headers::json) AS header
                             WHERE header.key = wanted.name
                               AND (pg_catalog.json_typeof(header.value) <> 'string'
                                    OR header.value #>> '{}' = wanted.value))) END
         ) AS wanted ON true
        ORDER BY log.seq
        LIMIT $3
  ) AS late ON true
 ORDER BY late.seq
