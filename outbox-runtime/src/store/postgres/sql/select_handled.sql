-- Which of the events $2 (sources $3, twins $4) stage $1 has handled.
SELECT event.id
  FROM unnest($2::pg_catalog.uuid[], $3::pg_catalog.text[], $4::pg_catalog.uuid[]) AS event (id, source, twin_id)
 WHERE EXISTS (SELECT FROM {outbox_inbox} AS inbox
                WHERE inbox.stage = $1 AND inbox.source = event.source AND inbox.id IN (event.id, event.twin_id))
