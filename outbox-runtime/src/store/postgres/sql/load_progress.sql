-- Where the stage $4 stands, for the leader of lease $1 (owner $2, epoch $3). No row: the lease was lost. A row of nulls:
-- the stage is new. The epoch changed only after all writes of the leader before had ended, so none of them is missed.
SELECT progress.id, progress.settled_seq, progress.holes,
       ARRAY(SELECT first_seq FROM {outbox_hole} WHERE stage = $4 ORDER BY first_seq) AS first_seqs,
       ARRAY(SELECT last_seq FROM {outbox_hole} WHERE stage = $4 ORDER BY first_seq) AS last_seqs
  FROM {outbox_leader} AS leader
  LEFT JOIN LATERAL (
       SELECT id, settled_seq, holes FROM {outbox_progress} WHERE stage = $4 ORDER BY id DESC LIMIT 1
  ) AS progress ON true
 WHERE leader.lease = $1 AND leader.owner = $2 AND leader.epoch = $3
