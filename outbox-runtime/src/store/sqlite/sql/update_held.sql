-- Records another failed attempt of a held event.
UPDATE {outbox_held}
   SET attempts = ?6, reason = ?7, error_chain = ?8,
       first_failed_at = coalesce(first_failed_at, CAST(unixepoch('subsec') * 1000 AS INTEGER))
 WHERE stage = ?1 AND lane = ?2 AND seq = ?3 AND source = ?4 AND id = ?5
