-- The log, the records of every stage, leases, inbox and dead letters. Times are milliseconds since 1970 by this
-- database's clock.

CREATE TABLE {outbox_log} (
    -- AUTOINCREMENT: without it the seq would start again once retention has emptied the table.
    seq           INTEGER PRIMARY KEY AUTOINCREMENT,
    id            TEXT    NOT NULL UNIQUE,
    topic         TEXT    NOT NULL,
    key           TEXT,
    event_type    TEXT    NOT NULL,
    event_version INTEGER NOT NULL CHECK (event_version > 0),
    payload       TEXT    NOT NULL,
    source        TEXT    NOT NULL,
    dataschema    TEXT    NOT NULL,
    headers       TEXT    NOT NULL,
    traceparent   TEXT,
    tracestate    TEXT,
    twin_id       TEXT,
    twin_version  INTEGER,
    on_poison     TEXT    NOT NULL CHECK (on_poison IN ('park', 'block', 'skip')),
    occurred_at   INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER))
);
INSERT INTO sqlite_sequence (name, seq)
SELECT name, 999999999999999999 FROM sqlite_schema WHERE type = 'table' AND name = {outbox_log:text};

CREATE TABLE {outbox_progress} (
    stage       TEXT    PRIMARY KEY,
    settled_seq INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE {outbox_leader} (
    lease      TEXT    PRIMARY KEY,
    owner      TEXT    NOT NULL,
    epoch      INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE {outbox_member} (
    stage      TEXT    NOT NULL,
    owner      TEXT    NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (stage, owner)
) WITHOUT ROWID;

-- A lane waits as long as its row stands here; without a due time it waits for a request.
CREATE TABLE {outbox_waiting} (
    stage   TEXT NOT NULL,
    lane    TEXT NOT NULL,
    share   TEXT NOT NULL,
    next_at INTEGER,
    PRIMARY KEY (stage, lane)
) WITHOUT ROWID;
CREATE INDEX {outbox_waiting_due} ON {outbox_waiting} (stage, share, next_at);

CREATE TABLE {outbox_held} (
    stage           TEXT    NOT NULL,
    lane            TEXT    NOT NULL,
    seq             INTEGER NOT NULL,
    id              TEXT    NOT NULL,
    topic           TEXT    NOT NULL,
    key             TEXT,
    event_type      TEXT    NOT NULL,
    event_version   INTEGER NOT NULL,
    payload         TEXT    NOT NULL,
    source          TEXT    NOT NULL,
    dataschema      TEXT    NOT NULL,
    headers         TEXT    NOT NULL,
    traceparent     TEXT,
    tracestate      TEXT,
    twin_id         TEXT,
    twin_version    INTEGER,
    on_poison       TEXT    NOT NULL,
    occurred_at     INTEGER NOT NULL,
    attempts        INTEGER NOT NULL DEFAULT 0,
    replayed        INTEGER NOT NULL DEFAULT 0,
    reason          TEXT,
    error_chain     TEXT,
    first_failed_at INTEGER,
    PRIMARY KEY (stage, lane, seq, source, id)
) WITHOUT ROWID;

CREATE TABLE {outbox_dead_letter} (
    dead_letter_id  INTEGER PRIMARY KEY AUTOINCREMENT,
    stage           TEXT    NOT NULL,
    lane            TEXT    NOT NULL,
    share           TEXT    NOT NULL,
    seq             INTEGER NOT NULL,
    id              TEXT    NOT NULL,
    topic           TEXT    NOT NULL,
    key             TEXT,
    event_type      TEXT    NOT NULL,
    event_version   INTEGER NOT NULL,
    payload         TEXT    NOT NULL,
    source          TEXT    NOT NULL,
    dataschema      TEXT    NOT NULL,
    headers         TEXT    NOT NULL,
    traceparent     TEXT,
    tracestate      TEXT,
    twin_id         TEXT,
    twin_version    INTEGER,
    on_poison       TEXT    NOT NULL,
    occurred_at     INTEGER NOT NULL,
    attempts        INTEGER NOT NULL,
    reason          TEXT    NOT NULL,
    error_chain     TEXT    NOT NULL,
    first_failed_at INTEGER NOT NULL,
    last_failed_at  INTEGER NOT NULL,
    parks_key       INTEGER NOT NULL,
    replaying       INTEGER NOT NULL DEFAULT 0,
    UNIQUE (stage, source, id)
);
CREATE INDEX {outbox_dead_letter_lane} ON {outbox_dead_letter} (stage, lane);

CREATE TABLE {outbox_request} (
    dead_letter_id INTEGER PRIMARY KEY,
    request        TEXT    NOT NULL CHECK (request IN ('replay', 'discard')),
    requested_at   INTEGER NOT NULL
);

CREATE TABLE {outbox_inbox} (
    consumer   TEXT    NOT NULL,
    source     TEXT    NOT NULL,
    event_id   TEXT    NOT NULL,
    handled_at INTEGER NOT NULL,
    PRIMARY KEY (consumer, source, event_id)
) WITHOUT ROWID;
CREATE INDEX {outbox_inbox_age} ON {outbox_inbox} (handled_at);
