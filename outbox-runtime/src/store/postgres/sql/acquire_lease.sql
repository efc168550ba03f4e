-- Takes the lease $1 for owner $2 and $3 seconds, if it is free, expired or this owner's. No row: another holds it.
-- One that runs out later than it lasts is of before the clock was set back, and its owner may be dead: it is free too.
-- The heartbeat decides who: its row lock lets one taker through, and the next one sees a lease that is not expired.
-- The epoch changes only with the owner; that update waits for every write that still holds the fence.
WITH taken AS (
    INSERT INTO {outbox_heartbeat} AS heartbeat (lease, owner, expires_at, lasts)
    VALUES ($1, $2, pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $3),
            pg_catalog.make_interval(secs => $3))
    ON CONFLICT (lease) DO UPDATE
       SET owner = EXCLUDED.owner, expires_at = EXCLUDED.expires_at, lasts = EXCLUDED.lasts
     WHERE heartbeat.owner = EXCLUDED.owner
        OR heartbeat.expires_at <= pg_catalog.clock_timestamp()
        OR heartbeat.expires_at > pg_catalog.clock_timestamp() + heartbeat.lasts
    RETURNING lease
), led AS (
    INSERT INTO {outbox_leader} AS leader (lease, owner, epoch)
    SELECT lease, $2, 1 FROM taken
    ON CONFLICT (lease) DO UPDATE
       SET owner = EXCLUDED.owner, epoch = leader.epoch + 1, taken_at = EXCLUDED.taken_at
     WHERE leader.owner <> EXCLUDED.owner
    RETURNING epoch
)
SELECT coalesce(
           (SELECT epoch FROM led),
           (SELECT epoch FROM {outbox_leader} WHERE lease = $1 AND owner = $2)
       ) AS epoch
  FROM taken
