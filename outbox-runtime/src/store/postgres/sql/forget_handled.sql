-- Forgets that stage $1 has handled the events $2 (sources $3, twins $4), so that it handles them again. But for dead letters.
DELETE FROM {outbox_inbox} AS inbox
 USING unnest($2::pg_catalog.uuid[], $3::pg_catalog.text[], $4::pg_catalog.uuid[]) AS event (id, source, twin_id)
 WHERE inbox.stage = $1 AND inbox.source = event.source AND inbox.id IN (event.id, event.twin_id)
   AND NOT EXISTS (SELECT FROM {outbox_dead_letter} AS dead
                    WHERE dead.stage = $1 AND dead.source = event.source AND dead.id = event.id)
