-- Replication slots that hold more than $1 bytes of WAL, or have lost what they need.
SELECT slot.slot_name::pg_catalog.text AS name, slot.slot_type AS kind, slot.active AS is_active,
       slot.xmin IS NOT NULL OR slot.catalog_xmin IS NOT NULL AS holds_rows,
       slot.wal_status IS NOT DISTINCT FROM 'lost' AS is_lost, coalesce(held.bytes, 0)::pg_catalog.int8 AS bytes
  FROM pg_catalog.pg_replication_slots AS slot
 CROSS JOIN LATERAL (
       SELECT pg_catalog.pg_wal_lsn_diff(
                  CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_last_wal_receive_lsn()
                       ELSE pg_catalog.pg_current_wal_lsn() END, slot.restart_lsn) AS bytes
 ) AS held
 WHERE held.bytes > $1 OR slot.wal_status IS NOT DISTINCT FROM 'lost'
 ORDER BY held.bytes DESC NULLS LAST
