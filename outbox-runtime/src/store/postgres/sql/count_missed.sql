-- For each stage that has not settled all of the leaf: how many rows of the leaf it misses when they go.
SELECT stage.stage, count(*)
  FROM (SELECT DISTINCT ON (stage) stage, settled_seq FROM {outbox_progress} ORDER BY stage, id DESC) AS stage
  JOIN {outbox_leaf} AS log
    ON log.seq > stage.settled_seq
    OR EXISTS (
       SELECT FROM {outbox_hole} AS hole
        WHERE hole.stage = stage.stage AND log.seq BETWEEN hole.first_seq AND hole.last_seq)
 GROUP BY stage.stage
