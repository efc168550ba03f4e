-- The tables of the billing service. Run at each start; what is there already stays.
CREATE SCHEMA IF NOT EXISTS billing;

CREATE TABLE IF NOT EXISTS billing.charge (
    order_id   bigint      NOT NULL,
    cents      bigint      NOT NULL,
    charged_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Whose card the bank has blocked.
CREATE TABLE IF NOT EXISTS billing.blocked (
    customer text PRIMARY KEY
);
