-- Puts the requests for stage ?1, share ?2, that were asked for at a limited rate off by as much as the first of them is late,
-- if that is more than ?3 milliseconds: nobody led for a while, and to act on all at once would break the limit.
UPDATE {outbox_request}
   SET due_at = due_at + late.late_by
  FROM (SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) - min(request.due_at) AS late_by
          FROM {outbox_request} AS request JOIN {outbox_dead_letter} AS dead USING (dead_letter_id)
         WHERE dead.stage = ?1 AND dead.share = ?2) AS late
 WHERE due_at IS NOT NULL AND late.late_by > ?3
   AND dead_letter_id IN (SELECT dead_letter_id FROM {outbox_dead_letter} WHERE stage = ?1 AND share = ?2)
