-- The last requests to the partner API, for the people of each partner.
CREATE TABLE logged_requests (
  id TEXT PRIMARY KEY NOT NULL,
  partner TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  key_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  method TEXT NOT NULL,
  route TEXT NOT NULL,
  status INTEGER NOT NULL,
  code TEXT,
  sent TEXT,
  answered TEXT
) STRICT;

CREATE INDEX logged_requests_by_time ON logged_requests (partner, mode, created_at, id);
CREATE INDEX logged_requests_failed ON logged_requests (partner, mode, created_at, id) WHERE status >= 400;
CREATE INDEX logged_requests_by_age ON logged_requests (created_at);
