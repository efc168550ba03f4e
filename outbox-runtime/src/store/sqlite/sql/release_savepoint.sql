-- Fails when the handler, or an error it swallowed, ended the transaction.
RELEASE SAVEPOINT outbox_handler
