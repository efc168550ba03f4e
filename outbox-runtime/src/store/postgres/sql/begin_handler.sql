-- A handler's transaction, in the application's own isolation level. The handler's time limit is known to the database
-- too: a process that stops inside it blocks others no longer than that.
BEGIN;
SET LOCAL idle_in_transaction_session_timeout = {outbox_timeout_ms:number};
SET LOCAL lock_timeout = {outbox_timeout_ms:number};
