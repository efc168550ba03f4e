-- The work that was done in a repository.
CREATE TABLE IF NOT EXISTS work (
    repository           TEXT   NOT NULL PRIMARY KEY,
    events               BIGINT NOT NULL,
    commits              BIGINT NOT NULL,
    issues_opened        BIGINT NOT NULL,
    pull_requests_merged BIGINT NOT NULL
)
