-- Says that owner $2 works on stage $1 for $3 seconds, forgets those that are gone, and counts those that do. The
-- snapshot does not hold this owner's own row.
WITH gone AS (
    DELETE FROM {outbox_member} WHERE stage = $1 AND owner <> $2 AND expires_at <= pg_catalog.clock_timestamp()
), joined AS (
    INSERT INTO {outbox_member} (stage, owner, expires_at)
    VALUES ($1, $2, pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $3))
    ON CONFLICT (stage, owner) DO UPDATE SET expires_at = EXCLUDED.expires_at
)
SELECT 1 + count(*)
  FROM {outbox_member}
 WHERE stage = $1 AND owner <> $2 AND expires_at > pg_catalog.clock_timestamp()
