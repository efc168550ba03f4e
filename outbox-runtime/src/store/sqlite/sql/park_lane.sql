-- Lets lane ?2 of stage ?1, share ?3, wait for a request.
INSERT INTO {outbox_waiting} (stage, lane, share, next_at) VALUES (?1, ?2, ?3, NULL)
ON CONFLICT (stage, lane) DO UPDATE SET next_at = NULL
