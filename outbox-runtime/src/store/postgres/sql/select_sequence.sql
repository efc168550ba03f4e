-- What the order of the log rests on: how the sequence is made, and that the log takes its numbers from it.
SELECT sequence.seqcache, sequence.seqcycle, sequence.seqincrement, sequence.seqmin,
       coalesce((
           SELECT pg_catalog.pg_get_expr(value.adbin, value.adrelid)
             FROM pg_catalog.pg_attrdef AS value
             JOIN pg_catalog.pg_attribute AS attribute
               ON attribute.attrelid = value.adrelid AND attribute.attnum = value.adnum
             JOIN pg_catalog.pg_depend AS uses
               ON uses.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass AND uses.objid = value.oid
              AND uses.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND uses.refobjid = sequence.seqrelid
            WHERE value.adrelid = {outbox_log:text}::pg_catalog.regclass AND attribute.attname = 'seq'), '') AS seq_default,
       pg_catalog.has_table_privilege({outbox_log:text}, 'SELECT')
           AND pg_catalog.has_table_privilege({outbox_progress:text}, 'SELECT')
           AND pg_catalog.has_sequence_privilege({outbox_seq:text}, 'SELECT') AS may_read
  FROM pg_catalog.pg_sequence AS sequence
 WHERE sequence.seqrelid = {outbox_seq:text}::pg_catalog.regclass
