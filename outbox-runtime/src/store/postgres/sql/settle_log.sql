-- Records that stage $4 has settled the log up to $5, except the young holes $6. $1 lease, $2 owner, $3 epoch, $7 the id of
-- the row that this one follows: if another is the newest, the caller remembers a past that is not this database's, or it is
-- a statement of an earlier connection, come late. (The seq would not tell: a record of other holes keeps it.)
-- No row back: the lease was lost, or $7 is not the newest. One row is appended and none is changed.
WITH fence AS (
    SELECT lease FROM {outbox_leader} WHERE lease = $1 AND owner = $2 AND epoch = $3 FOR SHARE
)
INSERT INTO {outbox_progress} (stage, epoch, settled_seq, holes)
SELECT $4, $3, $5, $6 FROM fence
 WHERE $7 = (SELECT id FROM {outbox_progress} WHERE stage = $4 ORDER BY id DESC LIMIT 1)
RETURNING id, pg_catalog.pg_current_xact_id()::pg_catalog.text::pg_catalog.int8
