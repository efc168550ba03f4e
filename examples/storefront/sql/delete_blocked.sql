-- Lifts the block from the card of customer $1.
DELETE FROM billing.blocked WHERE customer = $1
