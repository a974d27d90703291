-- What administrators did. Kept without end; nothing in it is changed. Times are milliseconds since the Unix epoch.

CREATE TABLE audit (
  id text COLLATE "C" PRIMARY KEY,
  at bigint NOT NULL,
  actor text NOT NULL,
  action text COLLATE "C" NOT NULL,
  target text COLLATE "C" NOT NULL,
  -- A JSON object as text. Never holds a secret.
  details text NOT NULL
);

CREATE INDEX audit_by_time ON audit (at, id);
CREATE INDEX audit_by_target ON audit (target, at, id);
