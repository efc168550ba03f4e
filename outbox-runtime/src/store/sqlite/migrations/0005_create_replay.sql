-- Replays of ranges of the log.

-- `next_seq`: the events before it were taken up, or left out. `taken_at`: when the last ones were, for the rate. `topics` and
-- `types` are arrays of JSON, or null for all.
CREATE TABLE {outbox_replay} (
    replay_id  INTEGER PRIMARY KEY AUTOINCREMENT,
    stage      TEXT    NOT NULL,
    first_seq  INTEGER NOT NULL,
    last_seq   INTEGER NOT NULL,
    since      INTEGER,
    until      INTEGER,
    topics     TEXT,
    types      TEXT,
    key        TEXT,
    to_topic   TEXT,
    again      INTEGER NOT NULL,
    per_second INTEGER CHECK (per_second > 0),
    matched    INTEGER NOT NULL,
    next_seq   INTEGER NOT NULL,
    taken      INTEGER NOT NULL DEFAULT 0,
    left_out   INTEGER NOT NULL DEFAULT 0,
    taken_at   INTEGER,
    state      TEXT    NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'cancelled')),
    asked_by   TEXT    NOT NULL,
    why        TEXT    NOT NULL,
    asked_at   INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
    ended_at   INTEGER
);
CREATE INDEX {outbox_replay_running} ON {outbox_replay} (stage) WHERE state = 'running';
-- How much of a replay is still held.
CREATE INDEX {outbox_held_replayed} ON {outbox_held} (stage, lane) WHERE replayed;
