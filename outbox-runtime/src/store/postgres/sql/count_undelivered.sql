-- The events that stage $1 holds and has set aside, and whether it is known at all.
SELECT (SELECT count(*) FROM {outbox_held} WHERE stage = $1),
       (SELECT count(*) FROM {outbox_dead_letter} WHERE stage = $1),
       EXISTS (SELECT FROM {outbox_progress} WHERE stage = $1) OR EXISTS (SELECT FROM {outbox_member} WHERE stage = $1)
           OR EXISTS (SELECT FROM {outbox_waiting} WHERE stage = $1)
           OR EXISTS (SELECT FROM {outbox_dead_letter} WHERE stage = $1)
