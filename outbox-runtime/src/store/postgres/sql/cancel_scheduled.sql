-- Takes event $1 back in the caller's transaction; tells what became of it, and whether the time $2 is past.
SELECT {outbox_cancel}($1), $2 <= pg_catalog.clock_timestamp()
