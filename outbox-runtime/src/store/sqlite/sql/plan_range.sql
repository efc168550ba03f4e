-- What a replay to stage ?1 would reach of the log from seq ?2 to ?3, written from ?4 on and before ?5, of topics ?6, types ?7
-- and key ?8; what is null matches all. Nothing above the stage's progress. No row: the stage reads no log.
SELECT count(log.seq) AS matched,
       count(*) FILTER (WHERE log.is_handled AND NOT log.is_dead) AS handled,
       count(*) FILTER (WHERE log.is_dead) AS dead,
       min(log.seq) AS first_seq, max(log.seq) AS last_seq
  FROM {outbox_progress} AS progress
  LEFT JOIN (SELECT log.seq,
                    EXISTS (SELECT 1 FROM {outbox_inbox} AS inbox
                             WHERE inbox.consumer = ?1 AND inbox.source = log.source
                               AND inbox.event_id IN (log.id, log.twin_id)) AS is_handled,
                    EXISTS (SELECT 1 FROM {outbox_dead_letter} AS dead
                             WHERE dead.stage = ?1 AND dead.source = log.source AND dead.id = log.id) AS is_dead
               FROM {outbox_log} AS log
              WHERE (?2 IS NULL OR log.seq >= ?2)
                AND (?3 IS NULL OR log.seq <= ?3)
                AND (?4 IS NULL OR log.occurred_at >= ?4)
                AND (?5 IS NULL OR log.occurred_at < ?5)
                AND (?6 IS NULL OR log.topic IN (SELECT value FROM json_each(?6)))
                AND (?7 IS NULL OR log.event_type IN (SELECT value FROM json_each(?7)))
                AND (?8 IS NULL OR log.key = ?8)) AS log ON log.seq <= progress.settled_seq
 WHERE progress.stage = ?1
 GROUP BY progress.stage
