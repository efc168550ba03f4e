-- Wakes those in other processes who wait for the news $2. $1 the channel of these tables.
SELECT pg_catalog.pg_notify($1, $2)
