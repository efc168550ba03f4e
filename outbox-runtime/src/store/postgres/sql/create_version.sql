-- The one-row table of versions: `version` is the last migration that ran, `build_version_min` the oldest build that
-- may use the tables as they are, `slot_secs` how long one leaf of the ring takes rows.
CREATE TABLE {outbox_version} (
    only_row          boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version           integer NOT NULL,
    build_version_min integer NOT NULL,
    slot_secs         bigint  NOT NULL CHECK (slot_secs > 0)
)
