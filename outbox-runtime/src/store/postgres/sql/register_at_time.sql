-- The first progress of the stage $1 (epoch $2): all rows before the first one that was written at $4 or later, or all
-- rows where there is none. The caller's transaction holds the fence. $3 the seq before the first.
-- A transaction that was open then may have taken a lower number and written later, so the gaps of the last 100,000
-- numbers are holes; one further below had taken its number long before. One statement, since a hole and the progress
-- above it must be of one snapshot.
WITH settled AS (
    SELECT coalesce(max(seq), $3::bigint) AS seq
      FROM {outbox_log}
     WHERE seq < coalesce((SELECT min(seq) FROM {outbox_log} WHERE occurred_at >= $4), 9223372036854775807)
), gap AS (
    SELECT pair.before + 1 AS first_seq, pair.seq - 1 AS last_seq
      FROM (SELECT log.seq, lag(log.seq, 1, greatest(settled.seq - 100000, $3::bigint)) OVER (ORDER BY log.seq) AS before
              FROM {outbox_log} AS log, settled
             WHERE log.seq > settled.seq - 100000 AND log.seq <= settled.seq) AS pair
     WHERE pair.seq > pair.before + 1
), holes AS (
    INSERT INTO {outbox_hole} (stage, first_seq, last_seq) SELECT $1, first_seq, last_seq FROM gap
)
INSERT INTO {outbox_progress} (stage, epoch, settled_seq) SELECT $1, $2, seq FROM settled
