-- A hash over the deliveries of a repository in the order in which their events were handled.
CREATE TABLE IF NOT EXISTS chain (
    repository TEXT NOT NULL PRIMARY KEY,
    links      TEXT NOT NULL
)
