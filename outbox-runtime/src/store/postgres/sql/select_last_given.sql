-- The last number given out. Read outside of any snapshot, so it is never behind a row that was numbered by the sequence and
-- read before.
SELECT last_value FROM {outbox_seq}
