-- How many lanes of stage $1, share $2, wait, and the seconds until the first is due.
SELECT count(*) AS lanes,
       pg_catalog.date_part('epoch', min(next_at) - pg_catalog.clock_timestamp()) AS due_in
  FROM {outbox_waiting}
 WHERE stage = $1 AND share = $2
