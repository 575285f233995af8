CREATE TABLE event_subscriptions (
    id TEXT PRIMARY KEY,
    parent TEXT NOT NULL,
    name TEXT NOT NULL,
    document TEXT NOT NULL,
    UNIQUE (parent, name)
) STRICT;

-- How far the deliveries of a subscription are.
CREATE TABLE deliveries (
    id TEXT PRIMARY KEY,
    document TEXT NOT NULL
) STRICT;

CREATE TABLE dead_letters (
    subscription TEXT NOT NULL,
    position INTEGER NOT NULL,
    redelivering INTEGER NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (subscription, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX dead_letters_redelivering ON dead_letters (subscription, position)
WHERE redelivering;
