-- The last row before the first one that was written at ?1 or later, or the newest row where there is none; null when
-- there is no row before.
SELECT max(seq) FROM {outbox_log}
 WHERE seq < coalesce((SELECT min(seq) FROM {outbox_log} WHERE occurred_at >= ?1), 9223372036854775807)
