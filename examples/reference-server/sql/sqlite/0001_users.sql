
      CREATE TABLE app_users (
        sub TEXT PRIMARY KEY,
        kid TEXT NOT NULL UNIQUE,
        handle TEXT NOT NULL UNIQUE COLLATE NOCASE,
        phone TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        avatar_url TEXT,
        role TEXT NOT NULL,
        country TEXT NOT NULL,
        kyc_tier INTEGER NOT NULL CHECK (kyc_tier BETWEEN 0 AND 3),
        kyc_status TEXT NOT NULL CHECK (kyc_status IN ('approved', 'pending', 'rejected')),
        htg_minor INTEGER NOT NULL,
        usd_minor INTEGER NOT NULL,
        trust_score INTEGER NOT NULL CHECK (trust_score BETWEEN 0 AND 100),
        trust_tier TEXT NOT NULL,
        password_hash TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        blocked_at INTEGER
      ) STRICT;
      CREATE TABLE app_credentials (
        id TEXT PRIMARY KEY,
        sub TEXT NOT NULL REFERENCES app_users ON DELETE CASCADE,
        type TEXT NOT NULL,
        issued_at INTEGER NOT NULL,
        expires_at INTEGER
      ) STRICT;
      CREATE INDEX app_credentials_by_sub ON app_credentials (sub);