-- Forgets the stored holes of stage $1 that begin at $2. The caller's transaction holds the fence.
DELETE FROM {outbox_hole} WHERE stage = $1 AND first_seq = ANY ($2::pg_catalog.int8[])
