-- Places order $1 of customer $2 for $3 cents; no row is inserted if it was placed before.
INSERT INTO orders.placed (id, customer, cents) VALUES ($1, $2, $3)
ON CONFLICT (id) DO NOTHING
