-- The first progress of the stage $1 (epoch $2): that of the most advanced stage with its holes, or all rows of the log
-- with every gap between them as a hole. The caller's transaction holds the fence. $3 the seq before the first.
-- One statement, since a hole and the progress above it must be of one snapshot.
WITH newest AS (
    SELECT DISTINCT ON (stage) stage, settled_seq, holes FROM {outbox_progress} ORDER BY stage, id DESC
), best AS (
    SELECT stage, settled_seq, holes FROM newest ORDER BY settled_seq DESC LIMIT 1
), gap AS (
    SELECT before + 1 AS first_seq, seq - 1 AS last_seq
      FROM (SELECT seq, lag(seq, 1, $3::bigint) OVER (ORDER BY seq) AS before FROM {outbox_log}) AS pair
     WHERE seq > before + 1 AND NOT EXISTS (SELECT FROM best)
), copied AS (
    INSERT INTO {outbox_hole} (stage, first_seq, last_seq)
    SELECT $1, first_seq, last_seq FROM gap
     UNION ALL
    SELECT $1, hole.first_seq, hole.last_seq FROM {outbox_hole} AS hole JOIN best USING (stage)
)
INSERT INTO {outbox_progress} (stage, epoch, settled_seq, holes)
SELECT $1, $2, coalesce((SELECT settled_seq FROM best), (SELECT max(seq) FROM {outbox_log}), $3), (SELECT holes FROM best)
