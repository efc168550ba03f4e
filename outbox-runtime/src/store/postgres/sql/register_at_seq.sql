-- The first progress of the stage $1 (epoch $2): what lies up to seq $3 is settled, without a hole. Where that is the seq
-- before the first, all numbers below the first row are a hole, because transactions that took them may be open.
-- The caller's transaction holds the fence.
INSERT INTO {outbox_progress} (stage, epoch, settled_seq) VALUES ($1, $2, $3)
