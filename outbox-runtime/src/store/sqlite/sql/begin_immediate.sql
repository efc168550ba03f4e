-- Takes the write lock at once: a transaction that first reads fails when another writes in between.
BEGIN IMMEDIATE
