-- How many seconds until the first scheduled event is due, below zero when it is. One look at the front of the index,
-- however many wait.
SELECT pg_catalog.date_part('epoch', due_at - pg_catalog.clock_timestamp())
  FROM {outbox_scheduled}
 ORDER BY due_at
 LIMIT 1
