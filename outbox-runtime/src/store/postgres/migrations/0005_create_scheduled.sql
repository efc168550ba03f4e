-- Events that wait for their time. Whoever keeps up these tables moves them into the log when they are due; so the checks
-- are those of the log, else one row could not be moved and would hold the others up.
CREATE TABLE {outbox_scheduled} (
    due_at        timestamptz NOT NULL
                  CHECK (due_at >= '1970-01-01 00:00:00+00' AND due_at < '9999-01-01 00:00:00+00'),
    number        bigint      GENERATED ALWAYS AS IDENTITY,
    id            uuid        NOT NULL,
    topic         text        NOT NULL CHECK (topic <> '' AND pg_catalog.octet_length(topic) <= 100),
    key           text        CHECK (key <> '' AND pg_catalog.octet_length(key) <= 1536),
    event_type    text        NOT NULL,
    event_version integer     NOT NULL CHECK (event_version > 0),
    payload       text        NOT NULL,
    source        text        NOT NULL CHECK (pg_catalog.octet_length(source) <= 512),
    dataschema    text        NOT NULL,
    headers       text        CHECK (pg_catalog.json_typeof(headers::json) = 'object'),
    traceparent   text,
    tracestate    text,
    twin_id       uuid,
    twin_version  integer,
    on_poison     text        NOT NULL CHECK (on_poison IN ('park', 'block', 'skip')),
    CHECK ((twin_id IS NULL) = (twin_version IS NULL)),
    PRIMARY KEY (due_at, number)
);
CREATE INDEX ON {outbox_scheduled} (id);

-- Takes an event back that is not due, with its twin. A function with the owner's rights, because a producer may read no
-- event. 'due': it waits for its move into the log; 'absent': it was moved, or never was here.
CREATE FUNCTION {outbox_cancel}(event uuid) RETURNS text
    LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH cancelled AS (
        DELETE FROM {outbox_scheduled} AS scheduled
         WHERE scheduled.due_at > pg_catalog.clock_timestamp()
           AND scheduled.id IN (
               SELECT $1 UNION ALL SELECT twin.twin_id FROM {outbox_scheduled} AS twin WHERE twin.id = $1)
        RETURNING scheduled.id
    )
    SELECT CASE WHEN EXISTS (SELECT FROM cancelled) THEN 'cancelled'
                WHEN EXISTS (SELECT FROM {outbox_scheduled} AS scheduled WHERE scheduled.id = $1) THEN 'due'
                ELSE 'absent' END;
END;
REVOKE ALL ON FUNCTION {outbox_cancel}(uuid) FROM PUBLIC;

-- Dead letters by age, which their retention asks for.
CREATE INDEX ON {outbox_dead_letter} (last_failed_at);
