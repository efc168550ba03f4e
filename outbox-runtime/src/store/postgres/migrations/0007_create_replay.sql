-- Replays of ranges of the log.

-- `next_seq`: the events before it were taken up, or left out. `taken_at`: when the last ones were, for the rate.
CREATE TABLE {outbox_replay} (
    number     bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stage      text        NOT NULL,
    first_seq  bigint      NOT NULL,
    last_seq   bigint      NOT NULL,
    since      timestamptz,
    until      timestamptz,
    topics     text[]      NOT NULL,
    types      text[]      NOT NULL,
    key        text,
    to_topic   text        CHECK (to_topic <> '' AND pg_catalog.octet_length(to_topic) <= 100),
    again      boolean     NOT NULL,
    per_second bigint      CHECK (per_second > 0),
    matched    bigint      NOT NULL,
    next_seq   bigint      NOT NULL,
    taken      bigint      NOT NULL DEFAULT 0,
    left_out   bigint      NOT NULL DEFAULT 0,
    taken_at   timestamptz,
    state      text        NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'cancelled')),
    asked_by   text        NOT NULL,
    why        text        NOT NULL,
    asked_at   timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    ended_at   timestamptz,
    CHECK ((state = 'running') = (ended_at IS NULL))
);
CREATE INDEX ON {outbox_replay} (stage) WHERE state = 'running';
-- How much of a replay is still held.
CREATE INDEX ON {outbox_held} (stage, lane) WHERE replayed;
