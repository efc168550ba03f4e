-- The last statement of a handler's transaction before COMMIT. It fails in an aborted transaction, locks the fence (lease $1,
-- owner $2, epoch $3) until the commit, and tells whether this is still the transaction $4 that claimed the event. No row:
-- the lease was lost.
SELECT coalesce(pg_catalog.texteq(pg_catalog.pg_current_xact_id_if_assigned()::pg_catalog.text, $4), false) AS is_same,
       CASE WHEN pg_catalog.texteq(pg_catalog.current_setting('synchronous_commit'), 'off')
            THEN pg_catalog.set_config('synchronous_commit', 'on', true) END
  FROM {outbox_leader}
 WHERE lease OPERATOR(pg_catalog.=) $1 AND owner OPERATOR(pg_catalog.=) $2 AND epoch OPERATOR(pg_catalog.=) $3
   FOR SHARE
