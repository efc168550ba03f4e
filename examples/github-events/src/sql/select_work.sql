-- The whole table of work, as text.
SELECT repository, CAST(events AS TEXT), CAST(commits AS TEXT), CAST(issues_opened AS TEXT),
       CAST(pull_requests_merged AS TEXT)
  FROM work
