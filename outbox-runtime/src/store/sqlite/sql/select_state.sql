-- Where event ?1 stands: a row for each place.
SELECT 'dead' AS place, stage FROM {outbox_dead_letter} WHERE id = ?1
UNION ALL
SELECT 'held', stage FROM {outbox_held} WHERE id = ?1
UNION ALL
SELECT 'scheduled', '' FROM {outbox_scheduled} WHERE id = ?1
UNION ALL
SELECT CASE WHEN seq <= (SELECT min(settled_seq) FROM {outbox_progress}) THEN 'settled' ELSE 'pending' END, ''
  FROM {outbox_log} WHERE id = ?1
