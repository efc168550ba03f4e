-- The last number given out, the highest in the log, and the highest that a stage has settled. The sequence is read
-- outside of the snapshot, so it is never behind a row that the snapshot holds unless the row did not come from it.
SELECT sequence.last_value - CASE WHEN sequence.is_called THEN 0 ELSE 1 END AS last_given,
       (SELECT max(seq) FROM {outbox_log}) AS last_in_log,
       (SELECT max(settled_seq) FROM {outbox_progress}) AS last_settled
  FROM {outbox_seq} AS sequence
