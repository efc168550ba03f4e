-- The orders in numbers. One that cannot be charged for a blocked card is not what the oldest open one is about.
SELECT count(*) AS placed,
       (SELECT count(*) FROM billing.charge) AS charged,
       (SELECT count(*) FROM shipping.shipment) AS sent,
       count(*) FILTER (WHERE charged_at IS NOT NULL AND sent_at IS NOT NULL) AS closed,
       coalesce(extract(epoch FROM clock_timestamp() - min(placed_at) FILTER (
           WHERE sent_at IS NULL AND customer NOT IN (SELECT customer FROM billing.blocked)
       )), 0)::double precision AS oldest_open_secs
  FROM orders.placed
