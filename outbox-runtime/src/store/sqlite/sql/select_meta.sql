-- The version of the tables and the lowest program version that may use them.
SELECT version, build_minimum FROM {outbox_meta} WHERE one = 1
