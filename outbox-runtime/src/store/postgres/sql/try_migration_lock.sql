-- One migrator at a time. Tried, never waited for: a statement that waits holds a snapshot, and whoever builds an index
-- concurrently in this database waits for every snapshot. $1 the key of these tables.
SELECT pg_catalog.pg_try_advisory_xact_lock($1)
