-- Stores holes of stage $1, from $2 to $3, that outlived a few settles. The caller's transaction holds the fence.
INSERT INTO {outbox_hole} (stage, first_seq, last_seq)
SELECT $1, hole.first_seq, hole.last_seq
  FROM unnest($2::pg_catalog.int8[], $3::pg_catalog.int8[]) AS hole (first_seq, last_seq)
