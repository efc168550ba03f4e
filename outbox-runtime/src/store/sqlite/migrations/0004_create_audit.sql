-- On what terms something was asked of a dead letter, and what was done with it.

-- `due_at`: when its leader may act, where it was asked for at a limited rate.
ALTER TABLE {outbox_request} ADD COLUMN due_at INTEGER;
ALTER TABLE {outbox_request} ADD COLUMN asked_by TEXT NOT NULL DEFAULT '';
ALTER TABLE {outbox_request} ADD COLUMN why TEXT NOT NULL DEFAULT '';

-- Written with the act itself. It outlives the dead letter, whose payload and headers it leaves out.
CREATE TABLE {outbox_audit} (
    audit_id       INTEGER PRIMARY KEY AUTOINCREMENT,
    action         TEXT    NOT NULL CHECK (action IN ('replay', 'discard', 'cancel')),
    asked_by       TEXT    NOT NULL,
    why            TEXT    NOT NULL,
    asked_at       INTEGER NOT NULL,
    done_at        INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
    stage          TEXT    NOT NULL,
    dead_letter_id INTEGER NOT NULL,
    id             TEXT    NOT NULL,
    source         TEXT    NOT NULL,
    event_type     TEXT    NOT NULL,
    event_version  INTEGER NOT NULL,
    topic          TEXT    NOT NULL,
    key            TEXT,
    seq            INTEGER NOT NULL,
    reason         TEXT    NOT NULL,
    attempts       INTEGER NOT NULL
);
CREATE INDEX {outbox_audit_age} ON {outbox_audit} (done_at);
