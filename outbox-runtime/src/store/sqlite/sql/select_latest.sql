-- Where a stage begins that wants what is new: after what the most advanced stage has settled, or after the newest event
-- where there is no other stage.
SELECT coalesce((SELECT max(settled_seq) FROM {outbox_progress}),
                (SELECT seq FROM sqlite_sequence WHERE name = {outbox_log:text}))
