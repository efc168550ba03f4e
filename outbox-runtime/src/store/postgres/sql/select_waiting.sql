-- Of the lanes $2 of stage $1, those that wait.
SELECT lane FROM {outbox_waiting} WHERE stage = $1 AND lane = ANY ($2::pg_catalog.text[])
