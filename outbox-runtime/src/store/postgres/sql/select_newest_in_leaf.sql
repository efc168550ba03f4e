-- The seq of the newest row of one leaf. The caller's lock has kept everybody out since before this look.
SELECT seq FROM {outbox_leaf} ORDER BY seq DESC LIMIT 1
