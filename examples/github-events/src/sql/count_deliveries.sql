-- How many webhooks are stored.
SELECT CAST(count(*) AS TEXT) FROM delivery
