-- Marks lane ?2 of stage ?1, share ?3, as waiting and due at once.
INSERT INTO {outbox_waiting} (stage, lane, share, next_at)
VALUES (?1, ?2, ?3, CAST(unixepoch('subsec') * 1000 AS INTEGER))
ON CONFLICT (stage, lane) DO UPDATE SET next_at = excluded.next_at
