CREATE TABLE service_accounts (
    id TEXT PRIMARY KEY,
    parent TEXT NOT NULL,
    name TEXT NOT NULL,
    document TEXT NOT NULL,
    UNIQUE (parent, name)
) STRICT;

-- Tokens have what all resources have, and may belong to a service account.
UPDATE tokens SET document = json_object(
    'id', document ->> 'id',
    'meta', json_object(
        'name', document ->> 'name',
        'generation', 1,
        'revision', 1,
        'labels', json_object(),
        'created_at', document ->> 'created_at',
        'updated_at', coalesce(document ->> 'revoked_at', document ->> 'created_at'),
        'deleting_since', document ->> 'revoked_at'
    ),
    'account', NULL,
    'made_with', NULL,
    'spec', json_object(
        'role', document ->> 'role',
        'expires_at', document ->> 'expires_at'
    ),
    'hash', document ->> 'hash',
    'secret_changed_at', document ->> 'created_at'
);
