-- Partners, their keys and their transfers. Times are milliseconds since the Unix epoch, digests are SHA-256, JSON is text.
-- No table holds an API key: only its digest, and its signing secret sealed.

CREATE TABLE partners (
  slug text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  disabled_at bigint,
  version integer NOT NULL
);

CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY,
  partner text COLLATE "C" NOT NULL REFERENCES partners (slug),
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
  name text NOT NULL,
  digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
  scopes text[] COLLATE "C" NOT NULL,
  -- NULL: usable from everywhere.
  allowlist text[] COLLATE "C",
  require_signature boolean NOT NULL,
  sealed_signing_secret text NOT NULL,
  quota_id text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  last_used_at bigint
);

CREATE INDEX api_keys_by_partner ON api_keys (partner, created_at DESC, id);

CREATE TABLE transfers (
  id text COLLATE "C" PRIMARY KEY,
  partner text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
  status text COLLATE "C" NOT NULL CHECK (status IN ('pending', 'completed', 'failed')),
  -- Minor units. More than a double holds exactly: read it as text.
  amount bigint NOT NULL CHECK (amount > 0 AND amount < 100000000000000000),
  currency text COLLATE "C" NOT NULL,
  recipient_kid text COLLATE "C" NOT NULL,
  description text,
  reference text COLLATE "C",
  metadata text,
  failure_code text,
  failure_message text,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  completed_at bigint
);

CREATE UNIQUE INDEX transfers_by_reference ON transfers (partner, mode, reference) WHERE reference IS NOT NULL;
CREATE INDEX transfers_by_creation ON transfers (partner, mode, created_at, id);
CREATE INDEX transfers_by_status ON transfers (partner, mode, status, created_at, id);
-- Final rows never change: an export walks along this index, page by page.
CREATE INDEX transfers_final ON transfers (partner, mode, updated_at, id) WHERE status <> 'pending';

-- Answers of requests with an Idempotency-Key, kept until they end, to be given again.
CREATE TABLE idempotency_records (
  partner text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
  key text COLLATE "C" NOT NULL,
  fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
  status integer NOT NULL,
  body text NOT NULL,
  ends_at bigint NOT NULL,
  PRIMARY KEY (partner, mode, key)
) WITH (autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX idempotency_records_by_end ON idempotency_records (ends_at);
