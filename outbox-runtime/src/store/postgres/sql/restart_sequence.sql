-- Moves the sequence beyond every number that anybody can have seen. Not `setval`, which others would not wait for.
ALTER SEQUENCE {outbox_seq} RESTART WITH {outbox_restart:number}
