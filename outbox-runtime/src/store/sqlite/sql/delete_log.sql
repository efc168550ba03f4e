-- Deletes, of the ?3 oldest events, those that are older than ?1 milliseconds and settled by every stage; a stage that lags
-- is waited for no longer than ?2 milliseconds. No others are looked at, so that writers wait a moment however large the
-- log is.
DELETE FROM {outbox_log}
 WHERE seq IN (SELECT seq
                 FROM (SELECT seq, occurred_at FROM {outbox_log} ORDER BY seq LIMIT ?3)
                WHERE occurred_at < CAST(unixepoch('subsec') * 1000 AS INTEGER) - ?1
                  AND (seq <= (SELECT min(settled_seq) FROM {outbox_progress})
                       OR occurred_at < CAST(unixepoch('subsec') * 1000 AS INTEGER) - ?1 - ?2))
RETURNING seq > coalesce((SELECT min(settled_seq) FROM {outbox_progress}), 0) AS missed
