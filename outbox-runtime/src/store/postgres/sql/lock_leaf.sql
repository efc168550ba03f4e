-- Keeps everybody out of one leaf; who had written to it has ended, so what is seen from now on is all of it.
LOCK TABLE ONLY {outbox_leaf} IN ACCESS EXCLUSIVE MODE
