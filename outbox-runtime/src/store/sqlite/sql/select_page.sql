-- Reads the rows after seq ?1, at most ?2: the seq of every row, the rest of those whose topic is in the JSON array ?3,
-- whose type is in the JSON array ?4, and whose headers hold those of the JSON object ?5 (null: all), since progress moves
-- over the others too. What the reader decides by itself comes along: headers that are no JSON object, and values that are
-- no text.
WITH page AS (
    SELECT seq,
           (?3 IS NULL OR topic IN (SELECT value FROM json_each(?3)))
           AND (?4 IS NULL OR event_type IN (SELECT value FROM json_each(?4)))
           AND CASE WHEN ?5 IS NULL OR NOT json_valid(log.headers) THEN 1
                    WHEN json_type(log.headers) <> 'object' THEN 1
                    ELSE NOT EXISTS (
                         SELECT 1 FROM json_each(?5) AS wanted
                          WHERE NOT EXISTS (
                                SELECT 1 FROM json_each(log.headers) AS header
                                 WHERE header.key = wanted.key
                                   AND (header.type <> 'text' OR header.value = wanted.value))) END AS matches
      FROM {outbox_log} AS log
     WHERE seq > ?1
     ORDER BY seq
     LIMIT ?2
)
SELECT page.seq AS read_seq, log.*
  FROM page LEFT JOIN {outbox_log} AS log ON log.seq = page.seq AND page.matches
 ORDER BY page.seq
