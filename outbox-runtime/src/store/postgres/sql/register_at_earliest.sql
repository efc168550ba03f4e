-- The first progress of the stage $1 (epoch $2): nothing is settled. All numbers below the first row are a hole then,
-- because transactions that took them may be open. The caller's transaction holds the fence. $3 the seq before the first.
INSERT INTO {outbox_progress} (stage, epoch, settled_seq) VALUES ($1, $2, $3)
