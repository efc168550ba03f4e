-- What a replay to stage $1 would reach of the log from seq $2 to $3, written from $4 on and before $5, of topics $6, types $7
-- and key $8; what is null or empty matches all. Nothing above the stage's progress. No row: the stage reads no log.
WITH progress AS (
    SELECT settled_seq FROM {outbox_progress} WHERE stage = $1 ORDER BY id DESC LIMIT 1
), wanted AS (
    SELECT log.seq, log.id, log.source, log.twin_id
      FROM {outbox_log} AS log, progress
     WHERE log.seq <= progress.settled_seq
       AND ($2::pg_catalog.int8 IS NULL OR log.seq >= $2)
       AND ($3::pg_catalog.int8 IS NULL OR log.seq <= $3)
       AND ($4::pg_catalog.timestamptz IS NULL OR log.occurred_at >= $4)
       AND ($5::pg_catalog.timestamptz IS NULL OR log.occurred_at < $5)
       AND ($6::pg_catalog.text[] = '{}' OR log.topic = ANY ($6::pg_catalog.text[]))
       AND ($7::pg_catalog.text[] = '{}' OR log.event_type = ANY ($7::pg_catalog.text[]))
       AND ($8::pg_catalog.text IS NULL OR log.key = $8)
), looked_up AS (
    SELECT wanted.seq,
           EXISTS (SELECT FROM {outbox_inbox} AS inbox
                    WHERE inbox.stage = $1 AND inbox.source = wanted.source
                      AND inbox.id IN (wanted.id, wanted.twin_id)) AS is_handled,
           EXISTS (SELECT FROM {outbox_dead_letter} AS dead
                    WHERE dead.stage = $1 AND dead.source = wanted.source AND dead.id = wanted.id) AS is_dead
      FROM wanted
)
SELECT count(looked_up.seq) AS matched,
       count(*) FILTER (WHERE is_handled AND NOT is_dead) AS handled,
       count(*) FILTER (WHERE is_dead) AS dead,
       min(looked_up.seq) AS first_seq, max(looked_up.seq) AS last_seq
  FROM progress LEFT JOIN looked_up ON true
 GROUP BY progress.settled_seq
