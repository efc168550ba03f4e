-- Whether stage ?1 has handled event ?3 of source ?2, or its twin ?4.
SELECT EXISTS (SELECT 1 FROM {outbox_inbox} WHERE consumer = ?1 AND source = ?2 AND event_id IN (?3, ?4))
