-- Whether the time ?1 lies more than ?2 milliseconds back.
SELECT ?1 < CAST(unixepoch('subsec') * 1000 AS INTEGER) - ?2
