-- A role that runs consumers: a producer that also keeps the records of its stages, and reads the log, which the local
-- broker needs. It changes no row of the log and clears none.
GRANT SELECT ON {outbox_log}, {outbox_scheduled} TO {outbox_role:name};
GRANT SELECT ON SEQUENCE {outbox_seq} TO {outbox_role:name};
GRANT SELECT, INSERT, UPDATE, DELETE ON {outbox_progress}, {outbox_hole}, {outbox_leader}, {outbox_heartbeat},
      {outbox_member}, {outbox_waiting}, {outbox_held}, {outbox_dead_letter}, {outbox_request}, {outbox_inbox},
      {outbox_marker}, {outbox_audit}, {outbox_replay}
      TO {outbox_role:name};
