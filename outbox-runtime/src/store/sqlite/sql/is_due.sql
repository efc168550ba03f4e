-- Whether event ?1 waits for its move into the log, or the time ?2 is past.
SELECT EXISTS (SELECT 1 FROM {outbox_scheduled} WHERE id = ?1)
    OR coalesce(?2 <= CAST(unixepoch('subsec') * 1000 AS INTEGER), 0)
