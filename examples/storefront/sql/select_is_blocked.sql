-- Whether the card of customer $1 is blocked.
SELECT EXISTS (SELECT FROM billing.blocked WHERE customer = $1)
