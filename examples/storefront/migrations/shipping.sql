-- The tables of the shipping service. Run at each start; what is there already stays.
CREATE SCHEMA IF NOT EXISTS shipping;

CREATE TABLE IF NOT EXISTS shipping.parcel (
    order_id bigint  PRIMARY KEY,
    -- Unknown until it is packed.
    customer text,
    is_paid  boolean NOT NULL DEFAULT false
);

CREATE TABLE IF NOT EXISTS shipping.shipment (
    order_id bigint      NOT NULL,
    sent_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
