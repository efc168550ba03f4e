-- The chain of the repository $1.
SELECT links FROM chain WHERE repository = $1
