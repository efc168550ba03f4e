-- Removes what one table has of the leases of stage $1: one, or one for each share.
DELETE FROM {outbox_table} WHERE pg_catalog.split_part(lease, '#', 1) = $1
