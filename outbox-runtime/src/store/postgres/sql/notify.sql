-- Wakes readers in other processes. $1 the channel of these tables.
SELECT pg_catalog.pg_notify($1, '')
