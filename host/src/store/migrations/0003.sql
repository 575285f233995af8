-- Several that have ended may have had the same name.
CREATE TABLE capacity_leases (
    id TEXT PRIMARY KEY,
    parent TEXT NOT NULL,
    name TEXT NOT NULL,
    document TEXT NOT NULL
) STRICT;

CREATE TABLE counters (
    id TEXT PRIMARY KEY,
    parent TEXT NOT NULL,
    name TEXT NOT NULL,
    document TEXT NOT NULL
) STRICT;
