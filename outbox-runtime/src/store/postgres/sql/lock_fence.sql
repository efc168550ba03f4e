-- The first statement of a leader's transaction: keeps the epoch row locked to the end of the transaction, so that a
-- take-over waits for it and every later write of the transaction is fenced. No row: the lease was lost.
-- What is written here is acked elsewhere, so it must outlive a crash.
SELECT CASE WHEN pg_catalog.texteq(pg_catalog.current_setting('synchronous_commit'), 'off')
            THEN pg_catalog.set_config('synchronous_commit', 'on', true) END
  FROM {outbox_leader}
 WHERE lease = $1 AND owner = $2 AND epoch = $3
   FOR SHARE
