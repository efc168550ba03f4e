-- Which migrations ran, and which builds may use them. All that a producer may read.
SELECT version, build_version_min, slot_secs FROM {outbox_version}
