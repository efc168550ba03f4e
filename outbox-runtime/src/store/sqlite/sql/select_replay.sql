-- The oldest running replay to stage ?1, and how many events of it may be taken up now, at most ?2: what its rate allows since
-- the last ones were, but no more than for two seconds, and none while ?3 events of replays are held and not parked.
SELECT replay_id, to_topic, again, last_seq,
       CASE WHEN (SELECT count(*)
                    FROM (SELECT 1
                            FROM {outbox_held} AS held JOIN {outbox_waiting} AS waiting USING (stage, lane)
                           WHERE held.stage = ?1 AND held.replayed AND waiting.next_at IS NOT NULL
                           LIMIT ?3)) >= ?3 THEN 0
            WHEN per_second IS NULL THEN ?2
            ELSE min(?2, per_second * min(coalesce(CAST(unixepoch('subsec') * 1000 AS INTEGER) - taken_at, 1000), 2000) / 1000)
       END AS may_take
  FROM {outbox_replay}
 WHERE stage = ?1 AND state = 'running'
 ORDER BY replay_id
 LIMIT 1
