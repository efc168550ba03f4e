-- Notes that order $1 is paid; tells whether it is packed. Of two handlers of one order, one waits for the other here.
INSERT INTO shipping.parcel AS parcel (order_id, is_paid) VALUES ($1, true)
ON CONFLICT (order_id) DO UPDATE SET is_paid = true
RETURNING parcel.customer IS NOT NULL
