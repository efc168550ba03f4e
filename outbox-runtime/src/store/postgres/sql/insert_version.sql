-- The row of a database without migrations. $1 the seconds of a slot.
INSERT INTO {outbox_version} (version, build_version_min, slot_secs) VALUES (0, 0, $1)
