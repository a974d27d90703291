-- Partners, their keys and their transfers. Times are milliseconds since the Unix epoch, digests are SHA-256,
-- lists are JSON arrays of text. No table holds an API key: only its digest, and its signing secret sealed.

CREATE TABLE partners (
  slug TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  disabled_at INTEGER,
  version INTEGER NOT NULL
) STRICT;

-- The partner that owns a client; repeats one more member of the record. Clients that exist belong to nobody.
ALTER TABLE clients ADD COLUMN partner TEXT;
UPDATE clients SET record = json_set(record, '$.partner', NULL);

CREATE INDEX clients_by_partner ON clients (partner) WHERE partner IS NOT NULL;

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY NOT NULL,
  partner TEXT NOT NULL REFERENCES partners (slug),
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  name TEXT NOT NULL,
  digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
  scopes TEXT NOT NULL,
  -- NULL: usable from everywhere.
  allowlist TEXT,
  require_signature INTEGER NOT NULL CHECK (require_signature IN (0, 1)),
  sealed_signing_secret TEXT NOT NULL,
  quota_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER
) STRICT;

CREATE INDEX api_keys_by_partner ON api_keys (partner, created_at DESC, id);

CREATE TABLE transfers (
  id TEXT PRIMARY KEY NOT NULL,
  partner TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  status TEXT NOT NULL CHECK (status IN ('pending', 'completed', 'failed')),
  -- Minor units. More than a double holds exactly: never read it into one.
  amount INTEGER NOT NULL CHECK (amount > 0 AND amount < 100000000000000000),
  currency TEXT NOT NULL,
  recipient_kid TEXT NOT NULL,
  description TEXT,
  reference TEXT,
  metadata TEXT,
  failure_code TEXT,
  failure_message TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  completed_at INTEGER
) STRICT;

CREATE UNIQUE INDEX transfers_by_reference ON transfers (partner, mode, reference) WHERE reference IS NOT NULL;
CREATE INDEX transfers_by_creation ON transfers (partner, mode, created_at, id);
CREATE INDEX transfers_by_status ON transfers (partner, mode, status, created_at, id);
-- Final rows never change: an export walks along this index, page by page.
CREATE INDEX transfers_final ON transfers (partner, mode, updated_at, id) WHERE status <> 'pending';

-- Answers of requests with an Idempotency-Key, kept until they end, to be given again.
CREATE TABLE idempotency_records (
  partner TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  key TEXT NOT NULL,
  fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
  status INTEGER NOT NULL,
  body TEXT NOT NULL,
  ends_at INTEGER NOT NULL,
  PRIMARY KEY (partner, mode, key)
) STRICT;

CREATE INDEX idempotency_records_by_end ON idempotency_records (ends_at);
