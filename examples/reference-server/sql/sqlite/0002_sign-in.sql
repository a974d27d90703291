
      CREATE TABLE app_sessions (
        digest BLOB PRIMARY KEY,
        sub TEXT NOT NULL REFERENCES app_users ON DELETE CASCADE,
        authenticated_at INTEGER NOT NULL,
        seen_at INTEGER NOT NULL,
        ends_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX app_sessions_by_sub ON app_sessions (sub);
      CREATE INDEX app_sessions_by_end ON app_sessions (ends_at);
      CREATE TABLE app_throttle (
        subject BLOB PRIMARY KEY,
        failures INTEGER NOT NULL,
        ends_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX app_throttle_by_end ON app_throttle (ends_at);