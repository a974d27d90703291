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
  trust_score INTEGER NOT NULL CHECK (trust_score BETWEEN 0 AND 100),
  trust_tier TEXT NOT NULL,
  password_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  blocked_at INTEGER
) STRICT;

-- Addresses to which notices for users are sent. Apps never receive them.
CREATE TABLE app_user_emails (
  sub TEXT PRIMARY KEY REFERENCES app_users ON DELETE CASCADE,
  email TEXT NOT NULL COLLATE NOCASE
) STRICT, WITHOUT ROWID;

CREATE TABLE app_credentials (
  id TEXT PRIMARY KEY,
  sub TEXT NOT NULL REFERENCES app_users ON DELETE CASCADE,
  type TEXT NOT NULL,
  issued_at INTEGER NOT NULL,
  expires_at INTEGER
) STRICT;
CREATE INDEX app_credentials_by_sub ON app_credentials (sub);

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

CREATE TABLE app_accounts (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('user', 'partner', 'external')),
  owner TEXT NOT NULL,
  currency TEXT NOT NULL CHECK (currency IN ('HTG', 'USD')),
  balance INTEGER NOT NULL,
  UNIQUE (kind, owner, currency),
  CHECK (kind = 'external' OR balance >= 0)
) STRICT;

CREATE TABLE app_movements (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('opening', 'funding', 'transfer')),
  currency TEXT NOT NULL CHECK (currency IN ('HTG', 'USD')),
  posted_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE app_postings (
  movement_id TEXT NOT NULL REFERENCES app_movements,
  account_id INTEGER NOT NULL REFERENCES app_accounts,
  amount INTEGER NOT NULL CHECK (amount <> 0),
  PRIMARY KEY (movement_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX app_postings_by_account ON app_postings (account_id);

CREATE TABLE app_executions (
  transfer_id TEXT PRIMARY KEY,
  failure TEXT,
  decided_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER app_postings_stay BEFORE UPDATE ON app_postings
  BEGIN SELECT RAISE(ABORT, 'a posting is never changed'); END;
CREATE TRIGGER app_postings_last BEFORE DELETE ON app_postings
  BEGIN SELECT RAISE(ABORT, 'a posting is never deleted'); END;

CREATE TABLE app_nodes (
  id TEXT PRIMARY KEY,
  role TEXT NOT NULL,
  facts TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- People who run the service. They are not users.
CREATE TABLE app_staff (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE COLLATE NOCASE,
  role TEXT NOT NULL CHECK (role IN ('viewer', 'support', 'admin', 'owner')),
  password_hash TEXT,
  -- Secret of the one-time codes, sealed, and the last time step whose code was used.
  totp TEXT,
  totp_step INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  disabled_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE app_staff_passkeys (
  id TEXT PRIMARY KEY,
  staff_id TEXT NOT NULL REFERENCES app_staff ON DELETE CASCADE,
  public_key BLOB NOT NULL,
  -- Number of signatures, which a copied passkey repeats.
  counter INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX app_staff_passkeys_by_staff ON app_staff_passkeys (staff_id);

-- Digests of recovery codes.
CREATE TABLE app_staff_codes (
  digest BLOB PRIMARY KEY,
  staff_id TEXT NOT NULL REFERENCES app_staff ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX app_staff_codes_by_staff ON app_staff_codes (staff_id);

-- The link of each person who has not set up a sign-in yet.
CREATE TABLE app_staff_links (
  staff_id TEXT PRIMARY KEY REFERENCES app_staff ON DELETE CASCADE,
  digest BLOB NOT NULL,
  ends_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE app_staff_sessions (
  digest BLOB PRIMARY KEY,
  staff_id TEXT NOT NULL REFERENCES app_staff ON DELETE CASCADE,
  authenticated_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX app_staff_sessions_by_staff ON app_staff_sessions (staff_id);
CREATE INDEX app_staff_sessions_by_end ON app_staff_sessions (ends_at);

-- Challenges of passkeys that were answered, until they expire.
CREATE TABLE app_staff_challenges (
  digest BLOB PRIMARY KEY,
  ends_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX app_staff_challenges_by_end ON app_staff_challenges (ends_at);
