-- Gives lease ?1 to owner ?2 for ?3 milliseconds if it is free, expired or already that owner's. No row: another has it.
-- One that runs out later than it lasts is of before the clock was set back, and its owner may be dead: it is free too.
INSERT INTO {outbox_leader} AS held (lease, owner, epoch, expires_at, lasts)
VALUES (?1, ?2, 1, CAST(unixepoch('subsec') * 1000 AS INTEGER) + ?3, ?3)
ON CONFLICT (lease) DO UPDATE
   SET owner = excluded.owner,
       epoch = held.epoch + (held.owner <> excluded.owner),
       expires_at = excluded.expires_at,
       lasts = excluded.lasts
 WHERE held.owner = excluded.owner OR held.expires_at < CAST(unixepoch('subsec') * 1000 AS INTEGER)
    OR held.expires_at > CAST(unixepoch('subsec') * 1000 AS INTEGER) + held.lasts
RETURNING epoch
