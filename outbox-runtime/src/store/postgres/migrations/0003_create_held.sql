-- Events that wait, events given up, and events handled.

-- A lane that waits. `next_at` is when its head is tried; a parked lane waits for a request instead.
CREATE TABLE {outbox_waiting} (
    stage   text        NOT NULL,
    lane    text        NOT NULL,
    share   text        NOT NULL,
    parked  boolean     NOT NULL DEFAULT false,
    next_at timestamptz,
    since   timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (stage, lane),
    CHECK (parked = (next_at IS NULL))
);
CREATE INDEX ON {outbox_waiting} (stage, share, next_at);

-- The events of lanes that wait; the one of the lowest seq is the head.
CREATE TABLE {outbox_held} (
    stage           text        NOT NULL,
    lane            text        NOT NULL,
    seq             bigint      NOT NULL,
    source          text        NOT NULL,
    id              uuid        NOT NULL,
    topic           text        NOT NULL,
    key             text,
    event_type      text        NOT NULL,
    event_version   integer     NOT NULL,
    payload         text        NOT NULL,
    dataschema      text        NOT NULL,
    headers         text,
    traceparent     text,
    tracestate      text,
    twin_id         uuid,
    twin_version    integer,
    on_poison       text        NOT NULL,
    occurred_at     timestamptz NOT NULL,
    attempts        integer     NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    replayed        boolean     NOT NULL DEFAULT false,
    reason          text,
    error_chain     text,
    first_failed_at timestamptz,
    last_failed_at  timestamptz,
    PRIMARY KEY (stage, lane, seq, source, id)
);

-- `attempts` counts those before earlier replays too. `replaying`: a held row of the event stands beside it.
CREATE TABLE {outbox_dead_letter} (
    number          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stage           text        NOT NULL,
    share           text        NOT NULL,
    lane            text        NOT NULL,
    seq             bigint      NOT NULL,
    source          text        NOT NULL,
    id              uuid        NOT NULL,
    topic           text        NOT NULL,
    key             text,
    event_type      text        NOT NULL,
    event_version   integer     NOT NULL,
    payload         text        NOT NULL,
    dataschema      text        NOT NULL,
    headers         text,
    traceparent     text,
    tracestate      text,
    twin_id         uuid,
    twin_version    integer,
    on_poison       text        NOT NULL,
    occurred_at     timestamptz NOT NULL,
    reason          text        NOT NULL,
    error_chain     text        NOT NULL,
    attempts        integer     NOT NULL CHECK (attempts >= 0),
    first_failed_at timestamptz NOT NULL,
    last_failed_at  timestamptz NOT NULL,
    parks_key       boolean     NOT NULL,
    replaying       boolean     NOT NULL DEFAULT false,
    UNIQUE (stage, id, source)
);
CREATE INDEX ON {outbox_dead_letter} (stage, lane);

-- What a person asked of a dead letter; the leader of its stage acts on it and removes the row.
CREATE TABLE {outbox_request} (
    dead_letter  bigint      PRIMARY KEY REFERENCES {outbox_dead_letter} (number) ON DELETE CASCADE,
    request      text        NOT NULL CHECK (request IN ('replay', 'discard')),
    requested_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
);

-- One row for each event that a consumer handled, kept for the window of deduplication.
CREATE TABLE {outbox_inbox} (
    stage      text        NOT NULL,
    id         uuid        NOT NULL,
    source     text        NOT NULL,
    handled_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (stage, id, source)
);
CREATE INDEX ON {outbox_inbox} (handled_at);
