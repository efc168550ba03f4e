-- The last number that the log has given out.
SELECT seq FROM sqlite_sequence WHERE name = {outbox_log:text}
