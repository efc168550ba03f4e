-- Registers stage ?1. With ?2 it starts after what the most advanced stage has settled, or after the newest event where
-- there is no other stage; else at the oldest event.
INSERT INTO {outbox_progress} (stage, settled_seq)
SELECT ?1,
       CASE WHEN ?2
            THEN coalesce((SELECT max(settled_seq) FROM {outbox_progress}),
                          (SELECT seq FROM sqlite_sequence WHERE name = {outbox_log:text}))
            ELSE 999999999999999999
       END
ON CONFLICT (stage) DO NOTHING
