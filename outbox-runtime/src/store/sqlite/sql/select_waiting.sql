-- Of the lanes in the JSON array ?2, those of stage ?1 that wait.
SELECT lane FROM {outbox_waiting} WHERE stage = ?1 AND lane IN (SELECT value FROM json_each(?2))
