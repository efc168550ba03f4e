-- A short transaction of a leader. A process that stops inside it keeps the fence locked, so the database ends it soon;
-- and no write waits long for a lock, so that a take-over can give up and try again.
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL idle_in_transaction_session_timeout = {outbox_idle_ms:number};
SET LOCAL lock_timeout = {outbox_lock_ms:number};
