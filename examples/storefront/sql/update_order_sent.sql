-- Notes that order $1 was sent.
UPDATE orders.placed SET sent_at = clock_timestamp() WHERE id = $1
