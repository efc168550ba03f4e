-- On what terms something was asked of a dead letter, and what was done with it.

-- `due_at`: when its leader may act, where it was asked for at a limited rate.
ALTER TABLE {outbox_request} ADD COLUMN due_at timestamptz, ADD COLUMN asked_by text NOT NULL DEFAULT '',
      ADD COLUMN why text NOT NULL DEFAULT '';

-- Written with the act itself. It outlives the dead letter, whose payload and headers it leaves out.
CREATE TABLE {outbox_audit} (
    number        bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    action        text        NOT NULL CHECK (action IN ('replay', 'discard', 'cancel')),
    asked_by      text        NOT NULL,
    why           text        NOT NULL,
    asked_at      timestamptz NOT NULL,
    done_at       timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    stage         text        NOT NULL,
    dead_letter   bigint      NOT NULL,
    id            uuid        NOT NULL,
    source        text        NOT NULL,
    event_type    text        NOT NULL,
    event_version integer     NOT NULL,
    topic         text        NOT NULL,
    key           text,
    seq           bigint      NOT NULL,
    reason        text        NOT NULL,
    attempts      integer     NOT NULL
);
CREATE INDEX ON {outbox_audit} (done_at);
