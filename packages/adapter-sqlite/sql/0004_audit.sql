-- What administrators did. Kept without end; nothing in it is changed. Times are milliseconds since the Unix epoch.

CREATE TABLE audit (
  id TEXT PRIMARY KEY NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  -- A JSON object. Never holds a secret.
  details TEXT NOT NULL
) STRICT;

CREATE INDEX audit_by_time ON audit (at, id);
CREATE INDEX audit_by_target ON audit (target, at, id);
