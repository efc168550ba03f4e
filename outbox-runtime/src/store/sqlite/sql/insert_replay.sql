-- Records a replay to stage ?1 of the log from seq ?2 to ?3, of which ?4 events match: written from ?5 on and before ?6, of
-- topics ?7, types ?8 and key ?9, to topic ?10; ?11: handled ones again; at most ?12 a second; asked for by ?13 because of ?14.
INSERT INTO {outbox_replay} (stage, first_seq, last_seq, matched, since, until, topics, types, key, to_topic, again,
                             per_second, asked_by, why, next_seq)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?2)
RETURNING replay_id
