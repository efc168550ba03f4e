-- What a connector of Debezium takes over from relay $1: the last number up to which it has settled everything, or null where
-- it has settled nothing. Then the database, and whether the server's WAL can be decoded.
SELECT least(progress.settled_seq,
             (SELECT min(hole.first_seq) - 1 FROM pg_catalog.unnest(progress.holes) AS hole (first_seq)),
             (SELECT min(hole.first_seq) - 1 FROM {outbox_hole} AS hole WHERE hole.stage = $1)) AS settled_seq,
       pg_catalog.current_database()::text AS database,
       pg_catalog.current_setting('wal_level') = 'logical' AS is_logical
  FROM (SELECT) AS one
  LEFT JOIN LATERAL (
       SELECT settled_seq, holes FROM {outbox_progress} WHERE stage = $1 ORDER BY id DESC LIMIT 1
  ) AS progress ON true
