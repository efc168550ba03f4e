-- Sends the parcel of order $1.
INSERT INTO shipping.shipment (order_id) VALUES ($1)
