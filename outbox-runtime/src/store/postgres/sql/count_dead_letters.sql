-- How many dead letters match (see select_dead_letters.sql), by what a person decides by.
SELECT dead.stage, dead.event_type, dead.event_version, dead.reason, count(*) AS letters,
       count(*) FILTER (WHERE EXISTS (SELECT FROM {outbox_request} AS request WHERE request.dead_letter = dead.number))
           AS requested,
       count(*) FILTER (WHERE dead.replaying AND NOT EXISTS (
           SELECT FROM {outbox_request} AS request WHERE request.dead_letter = dead.number)) AS replaying,
       count(*) FILTER (WHERE dead.parks_key) AS parking,
       min(dead.number) AS oldest, max(dead.number) AS newest
  FROM {outbox_dead_letter} AS dead
 WHERE ($1::pg_catalog.int8[] = '{}' OR dead.number = ANY ($1::pg_catalog.int8[]))
   AND ($2::pg_catalog.text IS NULL OR dead.stage = $2)
   AND ($3::pg_catalog.text IS NULL OR dead.event_type = $3)
   AND ($4::pg_catalog.text IS NULL OR dead.key = $4)
   AND ($5::pg_catalog.text IS NULL OR dead.reason = $5)
   AND ($6::pg_catalog.timestamptz IS NULL OR dead.last_failed_at >= $6)
   AND ($7::pg_catalog.timestamptz IS NULL OR dead.last_failed_at < $7)
   AND ($8::pg_catalog.int8 IS NULL OR dead.number > $8)
   AND ($9::pg_catalog.int4 IS NULL OR dead.event_version = $9)
   AND ($10::pg_catalog.uuid IS NULL OR dead.id = $10)
 GROUP BY dead.stage, dead.event_type, dead.event_version, dead.reason
 ORDER BY dead.stage, dead.event_type, dead.event_version, dead.reason
