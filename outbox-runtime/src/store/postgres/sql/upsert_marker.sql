-- Marks what the leader of lease $1 (owner $2, epoch $3) has in work: $4 suspects, $5 taken, $6 the one alone.
-- No row back: the lease was lost.
WITH fence AS (
    SELECT lease FROM {outbox_leader} WHERE lease = $1 AND owner = $2 AND epoch = $3 FOR SHARE
)
INSERT INTO {outbox_marker} (lease, epoch, suspects, taken, alone)
SELECT lease, $3, $4, $5, $6 FROM fence
ON CONFLICT (lease) DO UPDATE
   SET epoch = EXCLUDED.epoch, suspects = EXCLUDED.suspects, taken = EXCLUDED.taken, alone = EXCLUDED.alone
RETURNING epoch
