CREATE TABLE host (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE capacity_targets (
    id TEXT PRIMARY KEY,
    parent TEXT NOT NULL,
    name TEXT NOT NULL,
    document TEXT NOT NULL,
    UNIQUE (parent, name)
) STRICT;

CREATE TABLE environments (
    id TEXT PRIMARY KEY,
    parent TEXT NOT NULL,
    name TEXT NOT NULL,
    document TEXT NOT NULL,
    UNIQUE (parent, name)
) STRICT;

CREATE TABLE quotas (
    id TEXT PRIMARY KEY,
    parent TEXT NOT NULL,
    name TEXT NOT NULL,
    document TEXT NOT NULL,
    UNIQUE (parent, name)
) STRICT;

CREATE TABLE worker_pools (
    id TEXT PRIMARY KEY,
    parent TEXT NOT NULL,
    name TEXT NOT NULL,
    document TEXT NOT NULL,
    UNIQUE (parent, name)
) STRICT;

CREATE TABLE workers (
    id TEXT PRIMARY KEY,
    parent TEXT NOT NULL,
    name TEXT NOT NULL,
    document TEXT NOT NULL
) STRICT;

CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    parent TEXT NOT NULL,
    name TEXT NOT NULL,
    document TEXT NOT NULL
) STRICT;

CREATE TABLE conditions (
    id TEXT PRIMARY KEY,
    parent TEXT NOT NULL,
    name TEXT NOT NULL,
    document TEXT NOT NULL
) STRICT;

-- Times are microseconds since 1970.
CREATE TABLE events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    time INTEGER NOT NULL,
    subject_kind TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    subject_name TEXT NOT NULL,
    generation INTEGER NOT NULL,
    actor TEXT NOT NULL,
    data TEXT NOT NULL
) STRICT;

CREATE INDEX events_by_subject ON events (subject_id, position);

CREATE TABLE requests (
    caller TEXT NOT NULL,
    request_id TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    answer TEXT NOT NULL,
    time INTEGER NOT NULL,
    PRIMARY KEY (caller, request_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX requests_by_time ON requests (time);
