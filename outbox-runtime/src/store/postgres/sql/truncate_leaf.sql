-- Removes all rows of one leaf at once, leaving nothing to vacuum.
TRUNCATE TABLE ONLY {outbox_leaf}
