-- Every chain.
SELECT repository, links FROM chain
