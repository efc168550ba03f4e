-- Locks the lanes $1 for their writers, in the order of the array, to the end of the caller's transaction. The name of the
-- log is part of what is hashed, so that two outboxes of one database lock apart. Two lanes of one hash wait for each
-- other without need; nothing else comes of it.
SELECT pg_catalog.pg_advisory_xact_lock(
           pg_catalog.hashtextextended(pg_catalog.concat({outbox_log:text}, ' ', lane.name), 0))
  FROM pg_catalog.unnest($1::pg_catalog.text[]) WITH ORDINALITY AS lane (name, place)
 ORDER BY lane.place
