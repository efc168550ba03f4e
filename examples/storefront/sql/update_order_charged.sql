-- Notes that order $1 was charged.
UPDATE orders.placed SET charged_at = clock_timestamp() WHERE id = $1
