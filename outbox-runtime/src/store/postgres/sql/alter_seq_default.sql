-- Makes the default of `seq` what 0001_create_log.sql made it.
ALTER TABLE {outbox_log} ALTER COLUMN seq SET DEFAULT (
    CASE WHEN pg_catalog.pg_current_xact_id() IS NOT NULL
         THEN pg_catalog.nextval({outbox_seq:text}::pg_catalog.regclass) END)
