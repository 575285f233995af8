CREATE TABLE operations (
    id TEXT PRIMARY KEY,
    parent TEXT NOT NULL,
    name TEXT NOT NULL,
    document TEXT NOT NULL
) STRICT;
