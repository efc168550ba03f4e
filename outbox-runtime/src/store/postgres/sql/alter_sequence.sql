-- Makes the sequence what the order of the log needs, and waits for everybody who uses it.
ALTER SEQUENCE {outbox_seq} INCREMENT BY 1 NO CYCLE CACHE 1
