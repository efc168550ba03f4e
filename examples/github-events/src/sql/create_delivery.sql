-- The webhooks as they came. A second copy of one finds its id taken.
CREATE TABLE IF NOT EXISTS delivery (
    id      TEXT NOT NULL PRIMARY KEY,
    kind    TEXT NOT NULL,
    action  TEXT NOT NULL,
    payload TEXT NOT NULL
)
