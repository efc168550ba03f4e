-- The log of events, its numbers, and what each reader of it has settled.

-- No `OWNED BY`: a `TRUNCATE … RESTART IDENTITY` by hand must not give out numbers twice. One number at a time, because
-- a session's cached numbers would be used long after higher ones were read.
CREATE SEQUENCE {outbox_seq} AS bigint
    MINVALUE 1000000000000000000 START WITH 1000000000000000000 NO CYCLE CACHE 1;

-- Append-only. Rows are never updated, and removed a whole leaf at a time.
-- `seq`: the transaction id is taken before the number, so that whoever has a lower number than a visible row has a
--        lower transaction id than any that is given out from then on. This is what proves a gap dead.
-- `slot`: the leaf of the ring, by the database's clock.
-- The checks refuse what a reader could not read, or not hold (an index takes no longer key and source), because anybody with the right to insert may write a row.
-- `payload`, `headers`: text, which keeps the bytes and takes every JSON escape; readers cast it.
CREATE TABLE {outbox_log} (
    seq           bigint      NOT NULL DEFAULT (
        CASE WHEN pg_catalog.pg_current_xact_id() IS NOT NULL
             THEN pg_catalog.nextval({outbox_seq:text}::pg_catalog.regclass) END),
    slot          smallint    NOT NULL DEFAULT (
        pg_catalog.floor(pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()) / {outbox_slot_secs:number})::bigint % 8),
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
    occurred_at   timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
                  CHECK (occurred_at > '1970-01-01 00:00:00+00' AND occurred_at < '9999-01-01 00:00:00+00'),
    CHECK ((twin_id IS NULL) = (twin_version IS NULL)),
    PRIMARY KEY (seq, slot)
) PARTITION BY LIST (slot);

CREATE TABLE {outbox_log_0} PARTITION OF {outbox_log} FOR VALUES IN (0);
CREATE TABLE {outbox_log_1} PARTITION OF {outbox_log} FOR VALUES IN (1);
CREATE TABLE {outbox_log_2} PARTITION OF {outbox_log} FOR VALUES IN (2);
CREATE TABLE {outbox_log_3} PARTITION OF {outbox_log} FOR VALUES IN (3);
CREATE TABLE {outbox_log_4} PARTITION OF {outbox_log} FOR VALUES IN (4);
CREATE TABLE {outbox_log_5} PARTITION OF {outbox_log} FOR VALUES IN (5);
CREATE TABLE {outbox_log_6} PARTITION OF {outbox_log} FOR VALUES IN (6);
CREATE TABLE {outbox_log_7} PARTITION OF {outbox_log} FOR VALUES IN (7);

-- A look at one event by its id starts from the time inside the id.
CREATE INDEX ON {outbox_log} USING brin (occurred_at);

-- Appended at each settle; the newest row of a stage counts. `holes` are the young ones: first, last, first, last, …
CREATE TABLE {outbox_progress} (
    stage       text        NOT NULL,
    id          bigint      GENERATED ALWAYS AS IDENTITY,
    epoch       bigint      NOT NULL,
    settled_seq bigint      NOT NULL,
    holes       bigint[]    CHECK (pg_catalog.array_length(holes, 1) % 2 = 0),
    settled_at  timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (stage, id)
);

-- Holes that outlived a few settles: numbers up to the settled one whose transactions have not ended.
CREATE TABLE {outbox_hole} (
    stage     text   NOT NULL,
    first_seq bigint NOT NULL,
    last_seq  bigint NOT NULL CHECK (last_seq >= first_seq),
    PRIMARY KEY (stage, first_seq)
);
