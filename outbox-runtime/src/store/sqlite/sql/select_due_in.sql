-- How many milliseconds until the first scheduled event is due, at least 0.
SELECT max(due_at - CAST(unixepoch('subsec') * 1000 AS INTEGER), 0)
  FROM {outbox_scheduled}
 ORDER BY due_at
 LIMIT 1
