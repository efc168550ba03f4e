-- The tables of the orders service. Run at each start; what is there already stays.
CREATE SCHEMA IF NOT EXISTS orders;

CREATE TABLE IF NOT EXISTS orders.placed (
    id         bigint      PRIMARY KEY,
    customer   text        NOT NULL,
    cents      bigint      NOT NULL,
    placed_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    charged_at timestamptz,
    sent_at    timestamptz
);
