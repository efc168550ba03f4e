-- Takes the oldest requests for stage ?1, share ?2, that are due, at most ?3. The caller acts on them and enters them in the
-- audit log.
DELETE FROM {outbox_request}
 WHERE dead_letter_id IN (SELECT request.dead_letter_id
                            FROM {outbox_request} AS request JOIN {outbox_dead_letter} AS dead USING (dead_letter_id)
                           WHERE dead.stage = ?1 AND dead.share = ?2
                             AND (request.due_at IS NULL
                                  OR request.due_at <= CAST(unixepoch('subsec') * 1000 AS INTEGER))
                           ORDER BY coalesce(request.due_at, request.requested_at), request.dead_letter_id
                           LIMIT ?3)
RETURNING dead_letter_id, request, requested_at, asked_by, why
