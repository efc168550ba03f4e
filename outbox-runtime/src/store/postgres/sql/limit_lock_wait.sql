-- A migration waits for a lock on a table for a moment only, and tries again later: while one waits behind a dump or a long
-- transaction, every producer and reader queues behind it.
SET LOCAL lock_timeout = 50
