-- Sets the chain of the repository $1 to $2.
INSERT INTO chain (repository, links) VALUES ($1, $2)
ON CONFLICT (repository) DO UPDATE SET links = excluded.links
