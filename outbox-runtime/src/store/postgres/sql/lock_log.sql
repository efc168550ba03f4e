-- Waits for all who write events, then keeps others out. Before the sequence is locked, since a writer locks the log first.
LOCK TABLE {outbox_log} IN ACCESS EXCLUSIVE MODE
