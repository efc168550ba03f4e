-- How many events the consumer of work has counted.
SELECT CAST(coalesce(sum(events), 0) AS TEXT) FROM work
