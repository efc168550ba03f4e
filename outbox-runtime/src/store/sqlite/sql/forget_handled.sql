-- Forgets that stage ?1 has handled event ?3 of source ?2, or its twin ?4, so that it handles it again. But for a dead letter.
DELETE FROM {outbox_inbox}
 WHERE consumer = ?1 AND source = ?2 AND event_id IN (?3, ?4)
   AND NOT EXISTS (SELECT 1 FROM {outbox_dead_letter} WHERE stage = ?1 AND source = ?2 AND id = ?3)
