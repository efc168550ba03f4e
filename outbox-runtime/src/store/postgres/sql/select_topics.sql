-- The topics of the newest $1 events, and of the shares of consumers on a broker (`consumer/NAME#TOPIC.PARTITION`).
SELECT topic FROM (SELECT topic FROM {outbox_log} ORDER BY seq DESC LIMIT $1) AS newest
 UNION
SELECT pg_catalog.split_part(pg_catalog.split_part(lease, '#', 2), '.', 1)
  FROM {outbox_heartbeat}
 WHERE lease LIKE 'consumer/%#%'
 ORDER BY topic
