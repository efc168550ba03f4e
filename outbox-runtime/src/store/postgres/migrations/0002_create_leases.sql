-- Who leads, and who works.

-- The fence: locked FOR SHARE by every write of a leader, changed at take-over only.
CREATE TABLE {outbox_leader} (
    lease    text        PRIMARY KEY,
    owner    uuid        NOT NULL,
    epoch    bigint      NOT NULL CHECK (epoch > 0),
    taken_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
);

-- Apart from the fence, so that a heartbeat never waits for a leader's write, nor the reverse.
CREATE TABLE {outbox_heartbeat} (
    lease      text        PRIMARY KEY,
    owner      uuid        NOT NULL,
    expires_at timestamptz NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE {outbox_member} (
    stage      text        NOT NULL,
    owner      uuid        NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (stage, owner)
) WITH (fillfactor = 50);
