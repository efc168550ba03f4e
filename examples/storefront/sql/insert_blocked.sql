-- Blocks the card of customer $1.
INSERT INTO billing.blocked (customer) VALUES ($1) ON CONFLICT DO NOTHING
