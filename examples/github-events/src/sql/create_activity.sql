-- How often what was done in a repository.
CREATE TABLE IF NOT EXISTS activity (
    repository TEXT   NOT NULL,
    kind       TEXT   NOT NULL,
    action     TEXT   NOT NULL,
    events     BIGINT NOT NULL,
    PRIMARY KEY (repository, kind, action)
)
