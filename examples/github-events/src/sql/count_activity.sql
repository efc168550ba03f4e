-- Counts one event of the repository $1.
INSERT INTO activity (repository, kind, action, events) VALUES ($1, $2, $3, 1)
ON CONFLICT (repository, kind, action) DO UPDATE SET events = activity.events + 1
