-- Dead letters with the numbers 1 to ?1. The first one's texts try to steer a terminal. Number n failed n seconds after
-- 1970 began, in one of two stages by turns.
WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?1)
INSERT INTO outbox_dead_letter (dead_letter_id, stage, lane, share, seq, id, topic, key, event_type, event_version,
                                payload, source, dataschema, headers, on_poison, occurred_at, attempts, reason,
                                error_chain, first_failed_at, last_failed_at, parks_key)
SELECT n,
       CASE n % 2 WHEN 0 THEN 'consumer/billing.charge' ELSE 'consumer/shipping.plan' END,
       'orders/' || n,
       '',
       1000000000000000000 + n,
       printf('01900000-0000-7000-8000-%012x', n),
       'orders',
       'order' || CASE n WHEN 1 THEN char(27) || '[31m' ELSE '' END || '-' || n,
       'orders.placed',
       1,
       '{"eventType":"orders.placed","eventVersion":1,"note":"payload-of-' || n || '"}',
       '/shop',
       'urn:outbox:orders.placed:1',
       json_object('tenant', 'a' || char(27) || '[0mcme'),
       'skip',
       0,
       8,
       'handler-error',
       'the card was declined' || char(155) || '2J' || char(10) || 'no such card',
       0,
       n * 1000,
       0
  FROM number
