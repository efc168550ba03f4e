-- The topics of the newest ?1 events, and of the shares of consumers on a broker (`consumer/NAME#TOPIC.PARTITION`).
SELECT topic FROM (SELECT topic FROM {outbox_log} ORDER BY seq DESC LIMIT ?1)
 UNION
SELECT substr(share, 1, instr(share, '.') - 1)
  FROM (SELECT substr(lease, instr(lease, '#') + 1) AS share FROM {outbox_leader} WHERE lease LIKE 'consumer/%#%')
 ORDER BY topic
