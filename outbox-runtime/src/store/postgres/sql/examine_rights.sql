-- The tables that an examination reads and this role may not.
SELECT needed.name
  FROM (VALUES ({outbox_log:text}), ({outbox_progress:text}), ({outbox_hole:text}), ({outbox_heartbeat:text}),
               ({outbox_waiting:text}), ({outbox_dead_letter:text}), ({outbox_request:text}), ({outbox_scheduled:text}))
       AS needed (name)
 WHERE NOT pg_catalog.has_table_privilege(needed.name, 'SELECT')
