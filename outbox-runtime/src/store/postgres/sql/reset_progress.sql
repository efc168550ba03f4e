-- Lets the stages that settled more than $1, the last number the sequence had given, read the whole log again: rows may
-- have been numbered below what they settled. $2 the seq before the first. Gives the stages.
WITH newest AS (
    SELECT DISTINCT ON (stage) stage, epoch, settled_seq FROM {outbox_progress} ORDER BY stage, id DESC
), forgotten AS (
    DELETE FROM {outbox_hole} WHERE stage IN (SELECT stage FROM newest WHERE settled_seq > $1 AND settled_seq > $2)
)
INSERT INTO {outbox_progress} (stage, epoch, settled_seq)
SELECT stage, epoch, $2 FROM newest WHERE settled_seq > $1 AND settled_seq > $2
RETURNING stage
