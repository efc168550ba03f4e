-- A commit that counts, in one round trip. COMMIT of an aborted transaction answers ROLLBACK without an error; the
-- SELECT fails there, and nothing after it runs. AND CHAIN fails outside of a transaction, so one that was ended by the
-- code it was lent to is noticed; the empty transaction that it opens is rolled back with the connection's return.
SELECT 1; COMMIT AND CHAIN
