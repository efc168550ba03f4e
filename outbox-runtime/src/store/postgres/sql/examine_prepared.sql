-- Transactions that were prepared more than $1 seconds ago and not ended, the oldest first, at most $2.
SELECT gid, database::pg_catalog.text, owner::pg_catalog.text,
       pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() - prepared) AS open_secs
  FROM pg_catalog.pg_prepared_xacts
 WHERE pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() - prepared) > $1
 ORDER BY prepared
 LIMIT $2
