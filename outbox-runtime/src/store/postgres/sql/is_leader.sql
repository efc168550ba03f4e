-- Whether owner $2 still leads $1 in epoch $3; only to name the reason of a settle that was refused.
SELECT EXISTS (SELECT FROM {outbox_leader} WHERE lease = $1 AND owner = $2 AND epoch = $3)
