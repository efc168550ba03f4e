-- Deletes at most ?2 of the oldest inbox rows that are older than ?1 milliseconds.
DELETE FROM {outbox_inbox}
 WHERE (consumer, source, event_id) IN (SELECT consumer, source, event_id FROM {outbox_inbox}
                                         WHERE handled_at < CAST(unixepoch('subsec') * 1000 AS INTEGER) - ?1
                                         ORDER BY handled_at
                                         LIMIT ?2)
