-- Stores the webhook with the id $1, unless it is stored already.
INSERT INTO delivery (id, kind, action, payload) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING
