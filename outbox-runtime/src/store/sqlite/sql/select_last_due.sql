-- The last of the first ?1 events that are due.
SELECT due_at, number
  FROM (SELECT due_at, number
          FROM {outbox_scheduled}
         WHERE due_at <= CAST(unixepoch('subsec') * 1000 AS INTEGER)
         ORDER BY due_at, number
         LIMIT ?1)
 ORDER BY due_at DESC, number DESC
 LIMIT 1
