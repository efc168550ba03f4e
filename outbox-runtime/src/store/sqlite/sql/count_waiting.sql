-- How many lanes of stage ?1, share ?2, wait, and the milliseconds until the first is due.
SELECT count(*) AS lanes,
       max(0, min(next_at) - CAST(unixepoch('subsec') * 1000 AS INTEGER)) AS due_in
  FROM {outbox_waiting}
 WHERE stage = ?1 AND share = ?2
