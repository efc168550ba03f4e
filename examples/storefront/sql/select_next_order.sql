-- The number of the next order.
SELECT coalesce(max(id), 0) + 1 FROM orders.placed
