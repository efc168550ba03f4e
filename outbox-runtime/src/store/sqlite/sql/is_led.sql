-- Whether somebody holds a lease of stage ?1.
SELECT EXISTS (SELECT 1 FROM {outbox_leader}
                WHERE (lease = ?1 OR substr(lease, 1, length(?1) + 1) = ?1 || '#')
                  AND expires_at >= CAST(unixepoch('subsec') * 1000 AS INTEGER)
                  AND (lasts IS NULL OR expires_at <= CAST(unixepoch('subsec') * 1000 AS INTEGER) + lasts))
