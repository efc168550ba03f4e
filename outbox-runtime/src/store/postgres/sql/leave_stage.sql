-- Takes back what join_stage.sql said.
DELETE FROM {outbox_member} WHERE stage = $1 AND owner = $2
