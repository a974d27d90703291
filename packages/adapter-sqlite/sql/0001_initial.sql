-- Times are milliseconds since the Unix epoch. Digests are SHA-256. Lists are JSON arrays of text.
-- No table holds a code, a token, a session id or a client secret: only digests of them.

CREATE TABLE clients (
  client_id TEXT PRIMARY KEY NOT NULL,
  version INTEGER NOT NULL,
  disabled_at INTEGER,
  -- The whole client as JSON; version and disabled_at repeat two of its members.
  record TEXT NOT NULL
) STRICT;

-- Origins of web redirect URIs, as a browser sends them.
CREATE TABLE client_origins (
  origin TEXT NOT NULL,
  client_id TEXT NOT NULL REFERENCES clients (client_id) ON DELETE CASCADE,
  PRIMARY KEY (origin, client_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX client_origins_by_client ON client_origins (client_id);

-- What users allow until they revoke it. A revoked consent is kept, and the next one is another row.
CREATE TABLE consents (
  id INTEGER PRIMARY KEY,
  sub TEXT NOT NULL,
  client_id TEXT NOT NULL REFERENCES clients (client_id),
  scopes TEXT NOT NULL,
  granted_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT;

CREATE UNIQUE INDEX consents_unrevoked ON consents (sub, client_id) WHERE revoked_at IS NULL;
CREATE INDEX consents_unrevoked_by_client ON consents (client_id) WHERE revoked_at IS NULL;

-- One row per authorization: the code, and what its token is judged by on every use. Rows are in the order in which they
-- came, not in that of their digests, so that a redemption changes pages which were just written and not random ones.
CREATE TABLE grants (
  id INTEGER PRIMARY KEY,
  code_digest BLOB NOT NULL UNIQUE CHECK (length(code_digest) = 32),
  client_id TEXT NOT NULL REFERENCES clients (client_id),
  sub TEXT NOT NULL,
  scopes TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  code_challenge TEXT,
  nonce TEXT,
  authenticated_at INTEGER NOT NULL,
  issued_at INTEGER NOT NULL,
  -- End of the code.
  expires_at INTEGER NOT NULL,
  -- End of the code and of its token, whichever is later. The purge walks along this column, so that it never
  -- reads rows that it cannot delete.
  ends_at INTEGER NOT NULL,
  consumed_at INTEGER,
  revoked_at INTEGER,
  failed_verifiers INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX grants_by_user ON grants (sub, client_id);
CREATE INDEX grants_by_client ON grants (client_id);
CREATE INDEX grants_by_end ON grants (ends_at);

CREATE TABLE access_tokens (
  digest BLOB PRIMARY KEY NOT NULL CHECK (length(digest) = 32),
  grant_id INTEGER NOT NULL REFERENCES grants (id),
  issued_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX access_tokens_by_grant ON access_tokens (grant_id);
CREATE INDEX access_tokens_by_end ON access_tokens (expires_at);

CREATE TABLE interactions (
  digest BLOB PRIMARY KEY NOT NULL CHECK (length(digest) = 32),
  payload TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX interactions_by_end ON interactions (expires_at);

CREATE TABLE signing_keys (
  kid TEXT PRIMARY KEY NOT NULL,
  alg TEXT NOT NULL,
  public_jwk TEXT NOT NULL,
  sealed_private_jwk TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  active_from INTEGER NOT NULL
) STRICT;

-- claim_id and lease_ends_at are set together, while somebody works on the job.
CREATE TABLE jobs (
  id TEXT PRIMARY KEY NOT NULL,
  kind TEXT NOT NULL,
  payload TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  claim_id TEXT,
  lease_ends_at INTEGER,
  dropped_at INTEGER,
  last_error TEXT
) STRICT;

CREATE INDEX jobs_due ON jobs (kind, due_at) WHERE dropped_at IS NULL;
CREATE INDEX jobs_dropped ON jobs (kind, dropped_at) WHERE dropped_at IS NOT NULL;
