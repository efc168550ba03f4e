-- Changes how long one leaf takes rows. Rows that are there stay where they are: a leaf is cleared by its newest row.
ALTER TABLE {outbox_log} ALTER COLUMN slot SET DEFAULT (
    pg_catalog.floor(pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()) / {outbox_slot_secs:number})::bigint % 8)
