-- Transactions that are open for more than $1 seconds, the oldest first, at most $2: of this database, and those of others that
-- hold an id or a snapshot. What others do is shown to members of pg_read_all_stats alone.
SELECT activity.pid, coalesce(activity.usename, '') AS role, coalesce(activity.application_name, '') AS application,
       coalesce(activity.datname, '') AS database, coalesce(activity.state, '') AS state,
       pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() - activity.xact_start) AS open_secs,
       EXISTS (
           SELECT FROM pg_catalog.pg_locks AS lock
            WHERE lock.pid = activity.pid AND lock.locktype = 'relation' AND lock.mode = 'RowExclusiveLock' AND lock.granted
              AND lock.database = (
                  SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
              AND lock.relation = {outbox_seq:text}::pg_catalog.regclass) AS has_number
  FROM pg_catalog.pg_stat_activity AS activity
 WHERE pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() - activity.xact_start) > $1
   AND activity.pid <> pg_catalog.pg_backend_pid() AND activity.backend_type = 'client backend'
   AND (activity.datname = pg_catalog.current_database() OR activity.backend_xid IS NOT NULL
        OR activity.backend_xmin IS NOT NULL)
 ORDER BY activity.xact_start
 LIMIT $2
