-- Marks lane ?2 of stage ?1, share ?3, as waiting for ?4 milliseconds; a lane that waits keeps its time.
INSERT INTO {outbox_waiting} (stage, lane, share, next_at)
VALUES (?1, ?2, ?3, CAST(unixepoch('subsec') * 1000 AS INTEGER) + ?4)
ON CONFLICT (stage, lane) DO NOTHING
