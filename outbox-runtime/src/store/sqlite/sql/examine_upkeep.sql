-- How upkeep goes, in ages in milliseconds: since when nobody leads it (null when somebody does, or gave it back), how long the
-- first scheduled event is due, and how old a log is that nobody has ever read.
WITH clock AS (
    SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now
)
SELECT EXISTS (SELECT 1 FROM {outbox_leader} WHERE lease = 'upkeep' AND expires_at >= now) AS is_led,
       (SELECT now - expires_at FROM {outbox_leader} WHERE lease = 'upkeep' AND expires_at > 0) AS unled_ms,
       now - (SELECT min(due_at) FROM {outbox_scheduled}) AS due_ms,
       now - (SELECT CASE WHEN typeof(occurred_at) = 'integer' THEN occurred_at END FROM {outbox_log}
               WHERE NOT EXISTS (SELECT 1 FROM {outbox_progress}) ORDER BY seq LIMIT 1) AS unread_ms
  FROM clock
