-- How far stage ?1 has settled the log.
SELECT settled_seq FROM {outbox_progress} WHERE stage = ?1
