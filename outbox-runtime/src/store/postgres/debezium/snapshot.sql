-- What a connector sends before it follows the WAL, in the order of the log.
SELECT * FROM {outbox_log} WHERE seq > {outbox_after:number} ORDER BY seq
