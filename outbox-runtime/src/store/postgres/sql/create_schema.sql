-- The schema of our tables, where the database does not have it yet. Needs CREATE on the database only then.
CREATE SCHEMA IF NOT EXISTS {outbox_schema:alone}
