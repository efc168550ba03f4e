-- How many events the consumer of activity has counted.
SELECT CAST(coalesce(sum(events), 0) AS TEXT) FROM activity
