-- Events that wait for their time. Whoever keeps up these tables moves them into the log when they are due; so the rules
-- are those of the log, else one row could not be moved and would hold the others up.
CREATE TABLE {outbox_scheduled} (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,
    due_at        INTEGER NOT NULL,
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
    on_poison     TEXT    NOT NULL CHECK (on_poison IN ('park', 'block', 'skip'))
);
CREATE INDEX {outbox_scheduled_due} ON {outbox_scheduled} (due_at, number);

-- Dead letters by age, which their retention asks for.
CREATE INDEX {outbox_dead_letter_age} ON {outbox_dead_letter} (last_failed_at);
