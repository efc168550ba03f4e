-- The whole table of activity, as text.
SELECT repository, kind, action, CAST(events AS TEXT) FROM activity
