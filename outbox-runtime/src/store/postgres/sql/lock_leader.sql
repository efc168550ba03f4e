-- Waits for every write that holds the fence (lease $1, owner $2, epoch $3), as a take-over does. No row: the lease was lost.
SELECT lease FROM {outbox_leader} WHERE lease = $1 AND owner = $2 AND epoch = $3 FOR NO KEY UPDATE
