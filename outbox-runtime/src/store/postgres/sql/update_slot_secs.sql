-- Records how long one leaf takes rows, in the transaction that changes the default.
UPDATE {outbox_version} SET slot_secs = $1
