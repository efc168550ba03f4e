-- Takes back the rest of replay $1.
UPDATE {outbox_replay} SET state = 'cancelled', ended_at = pg_catalog.clock_timestamp()
 WHERE number = $1 AND state = 'running'
