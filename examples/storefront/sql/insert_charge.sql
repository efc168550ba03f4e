-- Charges order $1 with $2 cents.
INSERT INTO billing.charge (order_id, cents) VALUES ($1, $2)
