-- What the leader of a lease has in work, so that its successor knows how its process ended. Nothing is in work: a good end.
CREATE TABLE {outbox_marker} (
    lease    text    PRIMARY KEY,
    epoch    bigint  NOT NULL,
    suspects integer NOT NULL CHECK (suspects >= 0),
    taken    integer NOT NULL CHECK (taken >= 0),
    alone    uuid
) WITH (fillfactor = 50);

-- How long a lease lasts: one that runs out later than that was written before the clock was set back.
ALTER TABLE {outbox_heartbeat} ADD COLUMN lasts interval;
