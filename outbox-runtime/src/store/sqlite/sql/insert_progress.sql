-- Registers stage ?1, which has settled what lies up to seq ?2.
INSERT INTO {outbox_progress} (stage, settled_seq) VALUES (?1, ?2)
