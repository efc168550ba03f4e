-- Takes away what was moved: the scheduled events up to the one that is due at ?1 and has the number ?2.
DELETE FROM {outbox_scheduled} WHERE (due_at, number) <= (?1, ?2)
