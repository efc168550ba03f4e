-- What the leader that worked last under lease $1 has in work, and its epoch.
SELECT epoch, suspects, taken, alone FROM {outbox_marker} WHERE lease = $1
