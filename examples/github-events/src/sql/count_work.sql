-- Adds an event with $2 commits, $3 opened issues and $4 merged pull requests to the work of the repository $1.
INSERT INTO work (repository, events, commits, issues_opened, pull_requests_merged) VALUES ($1, 1, $2, $3, $4)
ON CONFLICT (repository) DO UPDATE
   SET events = work.events + 1,
       commits = work.commits + excluded.commits,
       issues_opened = work.issues_opened + excluded.issues_opened,
       pull_requests_merged = work.pull_requests_merged + excluded.pull_requests_merged
