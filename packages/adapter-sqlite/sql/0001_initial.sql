-- Times are milliseconds since the Unix epoch. Digests are SHA-256. Lists are JSON arrays of text.
-- No table holds a code, a token, a session id, a client secret or an API key: only digests of them. Secrets of partners,
-- of webhooks and of signing keys are sealed.

CREATE TABLE clients (
  client_id TEXT PRIMARY KEY NOT NULL,
  version INTEGER NOT NULL,
  disabled_at INTEGER,
  -- The whole client as JSON; version, disabled_at and partner repeat members of it.
  record TEXT NOT NULL,
  -- The partner that owns it.
  partner TEXT,
  -- True if that partner is disabled. Repeats the partner's row, so that a client needs no second query. Changes of either
  -- row write it.
  partner_disabled INTEGER NOT NULL DEFAULT 0 CHECK (partner_disabled IN (0, 1))
) STRICT;

CREATE INDEX clients_by_partner ON clients (partner) WHERE partner IS NOT NULL;

-- Origins of web redirect URIs, as a browser sends them.
CREATE TABLE client_origins (
  origin TEXT NOT NULL,
  client_id TEXT NOT NULL REFERENCES clients (client_id) ON DELETE CASCADE,
  PRIMARY KEY (origin, client_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX client_origins_by_client ON client_origins (client_id);

-- Logos that the pages show beside the name of a client, PNG. Apart from the clients, which every request reads.
CREATE TABLE client_logos (
  client_id TEXT PRIMARY KEY NOT NULL REFERENCES clients (client_id),
  png BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Clients that a client ID metadata document describes. They go, with their consents, when they were not used for a month.
CREATE TABLE client_documents (
  client_id TEXT PRIMARY KEY NOT NULL REFERENCES clients (client_id) ON DELETE CASCADE,
  -- Time of the last authorization request, at most an hour too early.
  used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX client_documents_by_use ON client_documents (used_at);

-- Consents of users. A revoked consent is kept, and the next one is another row.
CREATE TABLE consents (
  id INTEGER PRIMARY KEY,
  sub TEXT NOT NULL,
  client_id TEXT NOT NULL REFERENCES clients (client_id),
  scopes TEXT NOT NULL,
  granted_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  revoked_at INTEGER,
  -- Time at which a code was last issued for the consent, at most an hour too early. NULL: never.
  used_at INTEGER
) STRICT;

CREATE UNIQUE INDEX consents_unrevoked ON consents (sub, client_id) WHERE revoked_at IS NULL;
CREATE INDEX consents_by_client ON consents (client_id);
-- Tells whether a user has revoked a consent, which an import must not bring back.
CREATE INDEX consents_revoked ON consents (sub, client_id) WHERE revoked_at IS NOT NULL;

-- One row per authorization: the code, and the columns that decide about its tokens on every use. Rows are in the order in which they
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
  failed_verifiers INTEGER NOT NULL DEFAULT 0,
  -- Session id of the sign-in for client apps.
  sid TEXT NOT NULL,
  -- JSON: content of ID tokens besides the claims that each has.
  id_token_details TEXT,
  -- Resources that the request named (RFC 8707). NULL: none.
  resources TEXT,
  -- Thumbprint of the DPoP key that the code is bound to, or that its first access token was bound to. NULL: none.
  dpop_jkt TEXT
) STRICT;

CREATE INDEX grants_by_user ON grants (sub, client_id);
CREATE INDEX grants_by_client ON grants (client_id);
CREATE INDEX grants_by_end ON grants (ends_at);

CREATE TABLE access_tokens (
  digest BLOB PRIMARY KEY NOT NULL CHECK (length(digest) = 32),
  grant_id INTEGER NOT NULL REFERENCES grants (id),
  issued_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER,
  -- Scopes of a token that has fewer of them than its grant. NULL: those of the grant.
  scopes TEXT,
  -- Resources of a token that has fewer of them than its grant. NULL: those of the grant.
  resources TEXT,
  -- Thumbprint of the DPoP key that the token is bound to. NULL: a bearer token.
  dpop_jkt TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX access_tokens_by_grant ON access_tokens (grant_id);
CREATE INDEX access_tokens_by_end ON access_tokens (expires_at);

-- Refresh tokens. A grant has at most one that was not replaced, and the one that this one replaced. A replaced token that is
-- presented again, even after its row is gone, ends the grant.
CREATE TABLE refresh_tokens (
  digest BLOB PRIMARY KEY NOT NULL CHECK (length(digest) = 32),
  grant_id INTEGER NOT NULL REFERENCES grants (id),
  expires_at INTEGER NOT NULL,
  replaced_at INTEGER,
  -- The token for which a replaced one may be presented once more.
  successor BLOB,
  -- SHA-256 of the part that all refresh tokens of a grant share. It identifies a replaced token whose row is gone.
  family BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX refresh_tokens_live ON refresh_tokens (grant_id) WHERE replaced_at IS NULL;
CREATE INDEX refresh_tokens_by_grant ON refresh_tokens (grant_id);
CREATE INDEX refresh_tokens_by_end ON refresh_tokens (expires_at);
CREATE INDEX refresh_tokens_by_family ON refresh_tokens (family);

CREATE TABLE interactions (
  digest BLOB PRIMARY KEY NOT NULL CHECK (length(digest) = 32),
  payload TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX interactions_by_end ON interactions (expires_at);

-- Answers to authorization requests that have ended, kept for a minute: a browser that sends a form twice gets the same answer.
CREATE TABLE interaction_answers (
  digest BLOB PRIMARY KEY NOT NULL CHECK (length(digest) = 32),
  payload TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX interaction_answers_by_end ON interaction_answers (expires_at);

-- Authorization requests that clients pushed, for a minute. A used one is kept until its end.
CREATE TABLE pushed_requests (
  digest BLOB PRIMARY KEY NOT NULL CHECK (length(digest) = 32),
  client_id TEXT NOT NULL,
  payload TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;

CREATE INDEX pushed_requests_by_end ON pushed_requests (expires_at);

-- Sessions of the console, identity checks of sandbox users and marks of first runs.
CREATE TABLE sandbox_records (
  digest BLOB PRIMARY KEY NOT NULL CHECK (length(digest) = 32),
  payload TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX sandbox_records_by_end ON sandbox_records (expires_at);

-- Ids of signed proofs that were used. The digest is of the id and of everything else that makes it unique.
CREATE TABLE used_ids (
  namespace TEXT NOT NULL,
  digest BLOB NOT NULL CHECK (length(digest) = 32),
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (namespace, digest)
) STRICT;

CREATE INDEX used_ids_by_end ON used_ids (expires_at);

CREATE TABLE signing_keys (
  kid TEXT PRIMARY KEY NOT NULL,
  alg TEXT NOT NULL,
  public_jwk TEXT NOT NULL,
  sealed_private_jwk TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  active_from INTEGER NOT NULL
) STRICT;

-- claim_id and lease_ends_at are set together, while a worker has claimed the job. A job that fails is always retried.
CREATE TABLE jobs (
  id TEXT PRIMARY KEY NOT NULL,
  kind TEXT NOT NULL,
  payload TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  claim_id TEXT,
  lease_ends_at INTEGER,
  last_error TEXT,
  -- `mode:partner`, and '' for the host's own jobs. A claim takes a share of each owner, and walks from one owner to the next
  -- along an index.
  owner TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX jobs_due ON jobs (kind, due_at);
CREATE INDEX jobs_by_owner ON jobs (kind, owner, due_at);

CREATE TABLE partners (
  slug TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  disabled_at INTEGER,
  version INTEGER NOT NULL
) STRICT;

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

CREATE TABLE webhook_endpoints (
  id TEXT PRIMARY KEY NOT NULL,
  partner TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  url TEXT NOT NULL,
  -- Types of events, or ["*"].
  events TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  sealed_secret TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  version INTEGER NOT NULL
) STRICT;

CREATE INDEX webhook_endpoints_by_owner ON webhook_endpoints (partner, mode, id);

-- State of each endpoint for claims. A claim walks along these rows, and reads of each endpoint only the deliveries that it
-- claims.
CREATE TABLE endpoint_queues (
  -- Id of the endpoint. The row is made and removed with it.
  endpoint_id TEXT PRIMARY KEY NOT NULL,
  -- Time at which the first of its pending deliveries can be claimed, or earlier. NULL: there is none.
  next_due INTEGER,
  -- Time of the last claim. The endpoint that has waited longest is next.
  served_at INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX endpoint_queues_due ON endpoint_queues (next_due) WHERE next_due IS NOT NULL;

-- Endpoints that have failed: a row from the first failed attempt on. Only failed attempts, and the success that ends a
-- failure, write it.
CREATE TABLE endpoint_failures (
  -- Id of the endpoint, with which the row is removed.
  endpoint_id TEXT PRIMARY KEY NOT NULL,
  -- Start of the first failed attempt. NULL: the endpoint does not fail any more.
  since INTEGER,
  -- The last failed attempt.
  at INTEGER NOT NULL,
  http_status INTEGER,
  error TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX endpoint_failures_now ON endpoint_failures (since, endpoint_id) WHERE since IS NOT NULL;

-- The number of the last event of each sequence. Kept when the events are purged, so that no number comes twice.
CREATE TABLE event_sequences (
  partner TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  last INTEGER NOT NULL,
  PRIMARY KEY (partner, mode)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  partner TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  -- 1, 2, 3, … per partner and mode, without a gap.
  sequence INTEGER NOT NULL,
  type TEXT NOT NULL,
  -- The text that is signed and sent, byte for byte.
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (partner, mode, sequence)
) STRICT;

CREATE INDEX events_by_type ON events (partner, mode, type, sequence);

-- One row per event and endpoint that it goes to, in the order of their creation, without the body: workers write
-- each row twice. Of one event and endpoint at most one row is pending, and then it is the last one.
CREATE TABLE deliveries (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  event_number INTEGER NOT NULL REFERENCES events (number),
  -- No reference: deliveries are kept when their endpoint is removed.
  endpoint_id TEXT NOT NULL,
  partner TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'dropped', 'cancelled')),
  created_at INTEGER NOT NULL,
  -- Due time of the next attempt, or of the last one.
  due_at INTEGER NOT NULL,
  -- Time from which it can be claimed: due_at, or the end of the lease while a worker has claimed it. One column, so that
  -- one index says what can be claimed.
  ready_at INTEGER NOT NULL,
  claim_id TEXT,
  -- Number of attempts, including those that were cut off.
  attempts INTEGER NOT NULL DEFAULT 0,
  -- Time at which the status became final.
  ended_at INTEGER,
  -- The attempt that made it final, its number being `attempts`. In the row itself: most deliveries have no other one.
  final_at INTEGER,
  final_duration_ms INTEGER,
  final_http_status INTEGER,
  final_error TEXT,
  final_response TEXT,
  -- Number of numbered attempts that were cut off, by a worker that stopped or died during the attempt. They are no
  -- failures of the endpoint.
  cut_off INTEGER NOT NULL DEFAULT 0,
  -- States that few deliveries have: dropped, cancelled, and failing for a pending one of which an attempt has failed.
  failed_as TEXT GENERATED ALWAYS AS (
    CASE
      WHEN status IN ('dropped', 'cancelled') THEN status
      WHEN status = 'pending' AND attempts > cut_off THEN 'failing'
    END
  ) VIRTUAL
) STRICT;

-- Index along which workers claim. It has no final deliveries.
CREATE INDEX deliveries_pending ON deliveries (endpoint_id, ready_at) WHERE status = 'pending';
-- Indexes of all deliveries have no status: a delivery that becomes final, as nearly every one does, leaves them
-- as they are. Those that fail, or had another end than the usual one, are few.
CREATE INDEX deliveries_failed ON deliveries (partner, mode, failed_as, created_at, id) WHERE failed_as IS NOT NULL;
CREATE INDEX deliveries_failed_by_endpoint ON deliveries (endpoint_id, failed_as, created_at, id)
  WHERE failed_as IS NOT NULL;
CREATE INDEX deliveries_dropped ON deliveries (endpoint_id, ended_at) WHERE status = 'dropped';
CREATE INDEX deliveries_by_age ON deliveries (created_at);
CREATE INDEX deliveries_by_event ON deliveries (event_number, endpoint_id);
CREATE INDEX deliveries_by_endpoint ON deliveries (endpoint_id, created_at, id);
CREATE INDEX deliveries_by_owner ON deliveries (partner, mode, created_at, id);

-- Attempts that were followed by others.
CREATE TABLE delivery_attempts (
  delivery_number INTEGER NOT NULL REFERENCES deliveries (number) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  http_status INTEGER,
  error TEXT,
  -- The beginning of the answer's body.
  response TEXT,
  PRIMARY KEY (delivery_number, number)
) STRICT, WITHOUT ROWID;

-- The latest requests to the partner API, which the console shows to the people of each partner.
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

-- Actions of administrators. Kept without end; nothing in it is changed.
CREATE TABLE audit (
  id TEXT PRIMARY KEY NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  -- Role in which an operator acted.
  role TEXT,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  -- A JSON object. Never holds a secret.
  details TEXT NOT NULL,
  -- The chain: 1, 2, 3, … in the order of the commits, and SHA-256 over the value before (32 zero bytes at first) and the
  -- digest of the act. NULL: outside of the chain.
  number INTEGER,
  chain BLOB CHECK (length(chain) = 32)
) STRICT;

CREATE INDEX audit_by_time ON audit (at, id);
CREATE INDEX audit_by_target ON audit (target, at, id);
CREATE UNIQUE INDEX audit_by_number ON audit (number) WHERE number IS NOT NULL;
CREATE INDEX audit_outside ON audit (id) WHERE number IS NULL;

-- The end of the chain, in one row that the first act makes, and how many acts had been there before.
CREATE TABLE audit_head (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  number INTEGER NOT NULL,
  chain BLOB NOT NULL CHECK (length(chain) = 32),
  before INTEGER NOT NULL
) STRICT;
