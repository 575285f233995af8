CREATE INDEX events_by_type ON events (type, position);
