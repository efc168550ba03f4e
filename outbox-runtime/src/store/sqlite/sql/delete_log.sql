-- Deletes at most ?3 of the oldest events that are older than ?1 milliseconds and settled by every stage; a stage that
-- lags is waited for no longer than ?2 milliseconds.
DELETE FROM {outbox_log}
 WHERE seq IN (SELECT seq FROM {outbox_log}
                WHERE occurred_at < CAST(unixepoch('subsec') * 1000 AS INTEGER) - ?1
                  AND (seq <= (SELECT min(settled_seq) FROM {outbox_progress})
                       OR occurred_at < CAST(unixepoch('subsec') * 1000 AS INTEGER) - ?1 - ?2)
                ORDER BY seq
                LIMIT ?3)
RETURNING seq > coalesce((SELECT min(settled_seq) FROM {outbox_progress}), 0) AS missed
