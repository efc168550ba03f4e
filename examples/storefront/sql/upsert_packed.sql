-- Packs order $1 of customer $2; tells whether it is paid. Of two handlers of one order, one waits for the other here.
INSERT INTO shipping.parcel AS parcel (order_id, customer) VALUES ($1, $2)
ON CONFLICT (order_id) DO UPDATE SET customer = $2
RETURNING parcel.is_paid
