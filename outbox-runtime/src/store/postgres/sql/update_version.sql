-- Records a migration, in its transaction. $1 its number, $2 the oldest build that may use its tables.
UPDATE {outbox_version} SET version = $1, build_version_min = greatest(build_version_min, $2)
