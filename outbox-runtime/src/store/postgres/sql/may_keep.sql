-- Whether this role may clear a leaf of the log, and move what is due.
SELECT pg_catalog.has_table_privilege({outbox_log_0:text}, 'TRUNCATE')
   AND pg_catalog.has_table_privilege({outbox_scheduled:text}, 'DELETE')
