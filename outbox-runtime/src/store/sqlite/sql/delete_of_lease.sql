-- Removes what one table has of the leases of stage ?1: one, or one for each share.
DELETE FROM {outbox_table} WHERE lease = ?1 OR substr(lease, 1, length(?1) + 1) = ?1 || '#'
