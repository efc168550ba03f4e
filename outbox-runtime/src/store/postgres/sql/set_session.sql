-- The session of a cursor: nothing is looked up along a path, waits are short, and pages come by the primary key
-- whatever the statistics say; a plan that needs something else costs so much then that it would be compiled first, for
-- most of a second, hence no JIT. $1 the longest statement, $2 the longest wait for a lock, $3 the longest idle
-- transaction, in milliseconds.
SELECT pg_catalog.set_config('search_path', 'pg_catalog', false),
       pg_catalog.set_config('default_transaction_isolation', 'read committed', false),
       pg_catalog.set_config('statement_timeout', $1, false),
       pg_catalog.set_config('lock_timeout', $2, false),
       pg_catalog.set_config('idle_in_transaction_session_timeout', $3, false),
       pg_catalog.set_config('enable_seqscan', 'off', false),
       pg_catalog.set_config('enable_bitmapscan', 'off', false),
       pg_catalog.set_config('jit', 'off', false),
       CASE WHEN pg_catalog.texteq(pg_catalog.current_setting('synchronous_commit'), 'off')
            THEN pg_catalog.set_config('synchronous_commit', 'on', false) END
