-- The events that stage ?1 holds and has set aside, and whether it is known at all.
SELECT (SELECT count(*) FROM {outbox_held} WHERE stage = ?1) AS held,
       (SELECT count(*) FROM {outbox_dead_letter} WHERE stage = ?1) AS dead_letters,
       EXISTS (SELECT 1 FROM {outbox_progress} WHERE stage = ?1) OR EXISTS (SELECT 1 FROM {outbox_member} WHERE stage = ?1)
           OR EXISTS (SELECT 1 FROM {outbox_waiting} WHERE stage = ?1)
           OR EXISTS (SELECT 1 FROM {outbox_dead_letter} WHERE stage = ?1)
           OR EXISTS (SELECT 1 FROM {outbox_leader}
                       WHERE lease = ?1 OR substr(lease, 1, length(?1) + 1) = ?1 || '#') AS is_known
