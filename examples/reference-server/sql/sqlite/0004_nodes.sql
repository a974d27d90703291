
      CREATE TABLE app_nodes (
        id TEXT PRIMARY KEY,
        role TEXT NOT NULL,
        facts TEXT NOT NULL,
        started_at INTEGER NOT NULL,
        seen_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;