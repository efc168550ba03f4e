-- Deletes, of the ?3 oldest events, those that are older than ?1 milliseconds and settled by every stage; a stage that lags
-- is waited for no longer than ?2 milliseconds. One whose time cannot be read stands among the dead letters once it is settled,
-- and then goes. No others are looked at, so that writers wait a moment however large the log is.
DELETE FROM {outbox_log}
 WHERE seq IN (SELECT seq
                 FROM (SELECT seq, occurred_at,
                              typeof(occurred_at) IN ('integer', 'real') AS is_dated,
                              seq <= (SELECT min(settled_seq) FROM {outbox_progress}) AS is_settled,
                              CAST(unixepoch('subsec') * 1000 AS INTEGER) - ?1 AS kept_from
                         FROM {outbox_log} ORDER BY seq LIMIT ?3)
                WHERE CASE WHEN is_dated
                           THEN occurred_at < kept_from AND (is_settled OR occurred_at < kept_from - ?2)
                           ELSE is_settled
                       END)
RETURNING seq > coalesce((SELECT min(settled_seq) FROM {outbox_progress}), 0) AS missed
