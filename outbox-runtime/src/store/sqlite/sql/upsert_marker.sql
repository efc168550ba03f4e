-- Marks what the leader of lease ?1 (epoch ?2) has in work: ?3 suspects, ?4 taken, ?5 the one alone. The caller holds the
-- write lock and has seen its lease.
INSERT INTO {outbox_marker} (lease, epoch, suspects, taken, alone) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (lease) DO UPDATE
   SET epoch = excluded.epoch, suspects = excluded.suspects, taken = excluded.taken, alone = excluded.alone
