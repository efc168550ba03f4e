-- Clearing a leaf locks out its readers and writers, and while it waits for them they queue behind it: so it waits for a
-- moment only, and tries again later.
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL lock_timeout = 50;
SET LOCAL idle_in_transaction_session_timeout = 1000;
