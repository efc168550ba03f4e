-- Whether the schema and the table of versions exist, without failing when they do not.
SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname OPERATOR(pg_catalog.=) {outbox_schema:alone_text}),
       pg_catalog.to_regclass({outbox_version:text}) IS NOT NULL
