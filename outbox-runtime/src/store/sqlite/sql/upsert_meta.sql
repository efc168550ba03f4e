-- Records that the tables are of version ?1, for programs from version ?2.
INSERT INTO {outbox_meta} (one, version, build_minimum) VALUES (1, ?1, ?2)
ON CONFLICT (one) DO UPDATE SET version = excluded.version, build_minimum = excluded.build_minimum
