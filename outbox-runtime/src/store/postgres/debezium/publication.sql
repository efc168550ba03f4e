-- What the role that owns the tables runs once. Without `publish_via_partition_root` nothing arrives and nothing fails: rows
-- would bear the names of the leaves. Truncates are the work of retention, and nobody's event.
CREATE PUBLICATION {outbox_name:name} FOR TABLE {outbox_log}
       WITH (publish = 'insert', publish_via_partition_root = true);
GRANT USAGE ON SCHEMA {outbox_schema:alone} TO {outbox_role:name};
GRANT SELECT ON {outbox_log} TO {outbox_role:name};
