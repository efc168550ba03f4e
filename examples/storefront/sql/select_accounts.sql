-- Each order that any service knows of, and what each knows.
SELECT coalesce(placed.id, charge.order_id, shipment.order_id) AS id,
       placed.cents,
       coalesce(charge.times, 0) AS charges,
       coalesce(charge.cents, 0) AS charged_cents,
       coalesce(shipment.times, 0) AS shipments,
       coalesce(placed.charged_at IS NOT NULL AND placed.sent_at IS NOT NULL, false) AS is_closed
  FROM orders.placed AS placed
  FULL JOIN (
           SELECT order_id, count(*) AS times, sum(cents)::bigint AS cents FROM billing.charge GROUP BY order_id
       ) AS charge ON charge.order_id = placed.id
  FULL JOIN (
           SELECT order_id, count(*) AS times FROM shipping.shipment GROUP BY order_id
       ) AS shipment ON shipment.order_id = coalesce(placed.id, charge.order_id)
 ORDER BY 1
