-- The version of our tables, and the lowest version of a program that may use them.
CREATE TABLE IF NOT EXISTS {outbox_meta} (
    one           INTEGER PRIMARY KEY CHECK (one = 1),
    version       INTEGER NOT NULL,
    build_minimum INTEGER NOT NULL
)
