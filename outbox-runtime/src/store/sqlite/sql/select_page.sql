-- Reads the rows after seq ?1, at most ?2: the seq of every row, the rest of those whose topic is in the JSON array ?3
-- and whose type is in the JSON array ?4 (null: all), since progress moves over the others too.
WITH page AS (
    SELECT seq,
           (?3 IS NULL OR topic IN (SELECT value FROM json_each(?3)))
           AND (?4 IS NULL OR event_type IN (SELECT value FROM json_each(?4))) AS matches
      FROM {outbox_log}
     WHERE seq > ?1
     ORDER BY seq
     LIMIT ?2
)
SELECT page.seq AS read_seq, log.*
  FROM page LEFT JOIN {outbox_log} AS log ON log.seq = page.seq AND page.matches
 ORDER BY page.seq
