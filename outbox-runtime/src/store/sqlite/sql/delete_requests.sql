-- Takes the oldest requests for stage ?1, share ?2, at most ?3, that the caller now acts on.
DELETE FROM {outbox_request}
 WHERE dead_letter_id IN (SELECT request.dead_letter_id
                            FROM {outbox_request} AS request JOIN {outbox_dead_letter} AS dead USING (dead_letter_id)
                           WHERE dead.stage = ?1 AND dead.share = ?2
                           ORDER BY request.dead_letter_id
                           LIMIT ?3)
RETURNING dead_letter_id, request
