-- What the leader of a lease has in work, so that its successor knows how its process ended. Nothing is in work: a good end.
CREATE TABLE {outbox_marker} (
    lease    TEXT    PRIMARY KEY,
    epoch    INTEGER NOT NULL,
    suspects INTEGER NOT NULL,
    taken    INTEGER NOT NULL,
    alone    TEXT
) WITHOUT ROWID;

-- How long a lease lasts, in milliseconds: one that runs out later than that was written before the clock was set back.
ALTER TABLE {outbox_leader} ADD COLUMN lasts INTEGER;
