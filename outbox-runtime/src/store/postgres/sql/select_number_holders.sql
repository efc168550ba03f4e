-- Who has taken a number and not ended. `nextval` locks the sequence until the top transaction ends, also over ROLLBACK TO
-- and PREPARE. A prepared transaction has no process and, by version, another virtual id than before.
SELECT DISTINCT virtualtransaction, pid IS NULL AS is_prepared
  FROM pg_catalog.pg_locks
 WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND granted
   AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
   AND relation = {outbox_seq:text}::pg_catalog.regclass
