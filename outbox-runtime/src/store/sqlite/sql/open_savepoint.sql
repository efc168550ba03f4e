-- Stands as long as the handler's transaction does; released before the commit as the proof that it still stands.
SAVEPOINT outbox_handler
