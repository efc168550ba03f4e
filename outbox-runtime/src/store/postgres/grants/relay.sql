-- A role that relays and keeps the tables up: a producer that also reads the log, keeps the records of its stage, moves
-- what is due, and clears whole leaves. It changes no row of the log.
GRANT SELECT ON {outbox_log} TO {outbox_role:name};
GRANT SELECT ON SEQUENCE {outbox_seq} TO {outbox_role:name};
GRANT SELECT, TRUNCATE ON {outbox_log_0}, {outbox_log_1}, {outbox_log_2}, {outbox_log_3}, {outbox_log_4}, {outbox_log_5},
      {outbox_log_6}, {outbox_log_7} TO {outbox_role:name};
GRANT SELECT, INSERT, UPDATE, DELETE ON {outbox_progress}, {outbox_hole}, {outbox_leader}, {outbox_heartbeat},
      {outbox_member}, {outbox_waiting}, {outbox_held}, {outbox_dead_letter}, {outbox_request}, {outbox_inbox},
      {outbox_marker}, {outbox_scheduled}, {outbox_audit}, {outbox_replay}
      TO {outbox_role:name};
