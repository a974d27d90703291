-- Times are milliseconds since the Unix epoch. Digests are SHA-256. Lists are JSON arrays of text.
-- Of codes, tokens, session ids, client secrets and API keys only digests are stored. Signing secrets of API keys and
-- webhooks and private signing keys are stored encrypted ("sealed").

CREATE TABLE clients (
  client_id TEXT PRIMARY KEY NOT NULL,
  version INTEGER NOT NULL,
  disabled_at INTEGER,
  -- The whole client as JSON; version, disabled_at and partner repeat members of it.
  record TEXT NOT NULL,
  -- Slug of the partner that owns the client.
  partner TEXT,
  -- True if the client's partner is disabled. Copied from the partner's row, so that reading a client needs no second query.
  -- Written when the partner is disabled or enabled, and when the client gets another partner.
  partner_disabled INTEGER NOT NULL DEFAULT 0 CHECK (partner_disabled IN (0, 1)),
  -- Name by which lists are sorted and searched. NULL: the client is described by its metadata document, and not listed.
  search_name TEXT,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX clients_by_name ON clients (search_name, client_id) WHERE search_name IS NOT NULL;
CREATE INDEX clients_by_creation ON clients (created_at, client_id) WHERE search_name IS NOT NULL;

CREATE INDEX clients_by_partner ON clients (partner) WHERE partner IS NOT NULL;

-- Origins of clients' redirect URIs, as browsers send them.
CREATE TABLE client_origins (
  origin TEXT NOT NULL,
  client_id TEXT NOT NULL REFERENCES clients (client_id) ON DELETE CASCADE,
  PRIMARY KEY (origin, client_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX client_origins_by_client ON client_origins (client_id);

-- Logos of clients, PNG. Kept apart from the table of clients, which every request reads.
CREATE TABLE client_logos (
  client_id TEXT PRIMARY KEY NOT NULL REFERENCES clients (client_id),
  png BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Clients that a client ID metadata document describes. The purge removes them with their consents a month after their last use,
-- unless they have grants or are disabled.
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
  used_at INTEGER,
  -- Optional scopes that the user left out.
  declined TEXT NOT NULL DEFAULT '[]'
) STRICT;

CREATE UNIQUE INDEX consents_unrevoked ON consents (sub, client_id) WHERE revoked_at IS NULL;
CREATE INDEX consents_by_client ON consents (client_id);
-- Finds revoked consents of a user, which an import must not bring back.
CREATE INDEX consents_revoked ON consents (sub, client_id) WHERE revoked_at IS NOT NULL;

-- One row per authorization: its code, and the columns that every use of its tokens checks. Rows are in the order of their
-- creation and not of their digests, so that a redemption changes recently written pages and not random ones.
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
  -- Expiry of the code. Its tokens have their own.
  expires_at INTEGER NOT NULL,
  -- Latest expiry of the code, its access tokens and its refresh tokens. The purge walks along this column, so that it does
  -- not read grants whose tokens are still valid.
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
  -- Scopes of a token that has fewer than its grant. NULL: the token has the grant's scopes.
  scopes TEXT,
  -- Resources of a token that has fewer than its grant. NULL: the token has the grant's resources.
  resources TEXT,
  -- Thumbprint of the DPoP key that the token is bound to. NULL: a bearer token.
  dpop_jkt TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX access_tokens_by_grant ON access_tokens (grant_id);
CREATE INDEX access_tokens_by_end ON access_tokens (expires_at);

-- Refresh tokens. A grant has at most one that was not replaced, and its predecessor. A replaced token that is presented again,
-- even after its row is gone, revokes the grant.
CREATE TABLE refresh_tokens (
  digest BLOB PRIMARY KEY NOT NULL CHECK (length(digest) = 32),
  grant_id INTEGER NOT NULL REFERENCES grants (id),
  expires_at INTEGER NOT NULL,
  replaced_at INTEGER,
  -- Digest of the successor, which a replaced token still returns during the grace period.
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

-- Responses to ended authorization requests, kept for a minute: a browser that sends a form twice gets the same response.
CREATE TABLE interaction_answers (
  digest BLOB PRIMARY KEY NOT NULL CHECK (length(digest) = 32),
  payload TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX interaction_answers_by_end ON interaction_answers (expires_at);

-- Authorization requests that clients pushed, kept for a minute, even after their use.
CREATE TABLE pushed_requests (
  digest BLOB PRIMARY KEY NOT NULL CHECK (length(digest) = 32),
  client_id TEXT NOT NULL,
  payload TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;

CREATE INDEX pushed_requests_by_end ON pushed_requests (expires_at);

-- Records that expire: sessions of the console, identity checks of sandbox users, marks of first runs and of listeners, and
-- sealed secrets that wait to be shown once.
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

-- claim_id and lease_ends_at are set together, while a worker has claimed the job. A job that fails is always retried. WITHOUT
-- ROWID, because every page that changes is written: each payment adds a job, claims it and removes it.
CREATE TABLE jobs (
  id TEXT PRIMARY KEY NOT NULL,
  kind TEXT NOT NULL,
  payload TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  claim_id TEXT,
  lease_ends_at INTEGER,
  last_error TEXT,
  -- Owner of the job: `mode:partner`, or '' for the host. A claim takes a share of each owner's jobs, and jumps from owner to
  -- owner along an index.
  owner TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

CREATE INDEX jobs_by_owner ON jobs (kind, owner, due_at);

CREATE TABLE partners (
  slug TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  -- Name by which lists are sorted and searched: lower-case words without accents.
  search_name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  disabled_at INTEGER,
  version INTEGER NOT NULL
) STRICT;

CREATE INDEX partners_by_name ON partners (search_name, slug);
CREATE INDEX partners_by_creation ON partners (created_at, slug);

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY NOT NULL,
  partner TEXT NOT NULL REFERENCES partners (slug),
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  name TEXT NOT NULL,
  search_name TEXT NOT NULL,
  -- Beginning of the key, by which people find it.
  start TEXT NOT NULL,
  digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
  scopes TEXT NOT NULL,
  -- CIDR ranges from which the key may be used. NULL: every address.
  allowlist TEXT,
  require_signature INTEGER NOT NULL CHECK (require_signature IN (0, 1)),
  sealed_signing_secret TEXT NOT NULL,
  quota_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER,
  -- Time of the notice that the key expires soon.
  end_noticed_at INTEGER
) STRICT;

CREATE INDEX api_keys_by_partner ON api_keys (partner, created_at DESC, id);
CREATE INDEX api_keys_by_name ON api_keys (search_name, id);
CREATE INDEX api_keys_by_creation ON api_keys (created_at, id);
CREATE INDEX api_keys_by_start ON api_keys (start, id);
CREATE INDEX api_keys_by_end ON api_keys (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE transfers (
  id TEXT PRIMARY KEY NOT NULL,
  partner TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  status TEXT NOT NULL CHECK (status IN ('pending', 'completed', 'failed')),
  -- Amount in minor units. Read it as text, because a double cannot hold it exactly.
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
-- For lists of all partners' transfers. The status is in it, so that a filter reads no transfers of another status.
CREATE INDEX transfers_by_time ON transfers (mode, created_at, status);
-- For exports, which walk along this index page by page. Final rows never change.
CREATE INDEX transfers_final ON transfers (partner, mode, updated_at, id) WHERE status <> 'pending';

-- Responses to requests with an Idempotency-Key, to be returned again until the record expires.
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
CREATE INDEX webhook_endpoints_by_url ON webhook_endpoints (mode, url, id);
CREATE INDEX webhook_endpoints_by_creation ON webhook_endpoints (mode, created_at, id);

-- State of each endpoint for claims. A claim walks along these rows, and reads of each endpoint only the deliveries that it
-- claims.
CREATE TABLE endpoint_queues (
  -- Id of the endpoint, with which the row is created and removed.
  endpoint_id TEXT PRIMARY KEY NOT NULL,
  -- Time at which the endpoint's first pending delivery can be claimed, or earlier. NULL: none is pending.
  next_due INTEGER,
  -- Time of the last claim. The endpoint that has waited longest is next.
  served_at INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX endpoint_queues_due ON endpoint_queues (next_due) WHERE next_due IS NOT NULL;

-- Endpoints that have failed: a row from the first failed attempt on. Of the results of deliveries, only failed attempts
-- and the success that ends a failure write it. Notices write the times of the notices.
CREATE TABLE endpoint_failures (
  -- Id of the endpoint, with which the row is removed.
  endpoint_id TEXT PRIMARY KEY NOT NULL,
  -- Start of the first failed attempt. NULL: the endpoint does not fail any more.
  since INTEGER,
  -- The last failed attempt.
  at INTEGER NOT NULL,
  http_status INTEGER,
  error TEXT,
  -- Times of the notices of this failure, of a delivery that was dropped, and of the last recovery.
  failing_noticed_at INTEGER,
  given_up_noticed_at INTEGER,
  works_noticed_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX endpoint_failures_now ON endpoint_failures (since, endpoint_id) WHERE since IS NOT NULL;

-- Number of the last event of each sequence. Kept when events are purged, so that no number is used twice.
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
  -- Sequence number per partner and mode: 1, 2, 3, … without a gap.
  sequence INTEGER NOT NULL,
  type TEXT NOT NULL,
  -- Body of the webhook, signed and sent byte for byte.
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- Span that published the event (W3C Trace Context); NULL if there is none.
  traceparent TEXT,
  UNIQUE (partner, mode, sequence)
) STRICT;

CREATE INDEX events_by_type ON events (partner, mode, type, sequence);
-- For lists of all partners' events. The partner and the type are in it, so that a filter reads no other events.
CREATE INDEX events_by_time ON events (mode, created_at, partner, type);

-- Deliveries, numbered in the order of creation: one row per event and endpoint, and one more for each redelivery. Without
-- the body, because workers write each row twice. Per event and endpoint at most one row is pending, and then it is the last
-- one.
CREATE TABLE deliveries (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  event_number INTEGER NOT NULL REFERENCES events (number),
  -- Without a foreign key, because deliveries are kept when their endpoint is removed.
  endpoint_id TEXT NOT NULL,
  partner TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'dropped', 'cancelled')),
  created_at INTEGER NOT NULL,
  -- Due time of the next attempt, or of the last one.
  due_at INTEGER NOT NULL,
  -- Time from which the delivery can be claimed: due_at, or the end of the lease while a worker has claimed it. In one column,
  -- so that one index finds what can be claimed.
  ready_at INTEGER NOT NULL,
  claim_id TEXT,
  -- Number of attempts, including those that were cut off.
  attempts INTEGER NOT NULL DEFAULT 0,
  -- Time at which the status became final.
  ended_at INTEGER,
  -- Attempt that made the delivery final, with `attempts` as its number. In the row itself, because most deliveries have no
  -- other attempt.
  final_at INTEGER,
  final_duration_ms INTEGER,
  final_http_status INTEGER,
  final_error TEXT,
  final_response TEXT,
  -- Number of attempts that were cut off because their worker stopped or crashed. They do not count as failures of the
  -- endpoint.
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
-- Indexes of all deliveries do not contain the status, so that they stay unchanged when a delivery becomes final. Only the few
-- deliveries that fail, or were not delivered, have indexes with their status.
CREATE INDEX deliveries_failed ON deliveries (partner, mode, failed_as, created_at, id) WHERE failed_as IS NOT NULL;
CREATE INDEX deliveries_failed_by_endpoint ON deliveries (endpoint_id, failed_as, created_at, id)
  WHERE failed_as IS NOT NULL;
CREATE INDEX deliveries_dropped ON deliveries (endpoint_id, ended_at) WHERE status = 'dropped';
CREATE INDEX deliveries_by_age ON deliveries (created_at);
CREATE INDEX deliveries_by_event ON deliveries (event_number, endpoint_id);
CREATE INDEX deliveries_by_endpoint ON deliveries (endpoint_id, created_at, id);
CREATE INDEX deliveries_by_owner ON deliveries (partner, mode, created_at, id);

-- Attempts that were followed by other attempts.
CREATE TABLE delivery_attempts (
  delivery_number INTEGER NOT NULL REFERENCES deliveries (number) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  http_status INTEGER,
  error TEXT,
  -- Beginning of the response body.
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
-- For lists of all partners' requests.
CREATE INDEX logged_requests_everywhere ON logged_requests (mode, created_at);
CREATE INDEX logged_requests_failed_everywhere ON logged_requests (mode, created_at) WHERE status >= 400;

-- Requests in the inboxes of test endpoints, as they arrived.
CREATE TABLE inbox_requests (
  id TEXT PRIMARY KEY NOT NULL,
  partner TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  endpoint_id TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  -- A JSON array of names and values.
  headers TEXT NOT NULL,
  body TEXT NOT NULL,
  signature_error TEXT,
  -- 1 once a listener has it.
  taken INTEGER NOT NULL DEFAULT 0 CHECK (taken IN (0, 1)),
  -- A JSON object; NULL while there is no response.
  answer TEXT
) STRICT;

CREATE INDEX inbox_requests_by_endpoint ON inbox_requests (endpoint_id, received_at, id);
CREATE INDEX inbox_requests_by_owner ON inbox_requests (partner, mode, received_at, id);

-- Unused links to the portal in which partners see their data of live mode, and the sessions that links opened.
CREATE TABLE portal_sessions (
  id TEXT PRIMARY KEY NOT NULL,
  -- SHA-256 of the secret of the link or, once it was used, of the session.
  digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
  partner TEXT NOT NULL REFERENCES partners (slug),
  rights TEXT NOT NULL CHECK (rights IN ('view', 'manage')),
  made_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- NULL until the link is used.
  opened_at INTEGER,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX portal_sessions_by_partner ON portal_sessions (partner, created_at, id);
CREATE INDEX portal_sessions_by_end ON portal_sessions (expires_at);

-- Counts of what the service did, per hour, for charts of operators. Every process adds to the rows of the current hour.
CREATE TABLE hourly_counts (
  -- Beginning of the hour.
  hour INTEGER NOT NULL,
  name TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  -- Sum of all numbers that were added, and the largest of them.
  total INTEGER NOT NULL,
  peak INTEGER NOT NULL,
  PRIMARY KEY (hour, name, mode)
) STRICT, WITHOUT ROWID;

-- Audit log of administrative acts. Rows are kept for ever and never changed.
CREATE TABLE audit (
  id TEXT PRIMARY KEY NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  -- Role in which an operator acted.
  role TEXT,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  -- Values that the act set: a JSON object. Never holds a secret.
  details TEXT NOT NULL,
  -- Place in the chain: 1, 2, 3, … in the order of the commits, and the chain value: SHA-256 over the previous value (32 zero
  -- bytes at first) and the digest of the act. NULL: outside of the chain.
  number INTEGER,
  chain BLOB CHECK (length(chain) = 32)
) STRICT;

CREATE INDEX audit_by_time ON audit (at, id);
CREATE INDEX audit_by_target ON audit (target, at, id);
CREATE INDEX audit_by_actor ON audit (actor, at, id);
CREATE INDEX audit_by_action ON audit (action, at, id);
CREATE UNIQUE INDEX audit_by_number ON audit (number) WHERE number IS NOT NULL;
CREATE INDEX audit_outside ON audit (id) WHERE number IS NULL;

-- End of the audit chain, and the number of acts from before the chain: one row, which the first act creates.
CREATE TABLE audit_head (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  number INTEGER NOT NULL,
  chain BLOB NOT NULL CHECK (length(chain) = 32),
  before INTEGER NOT NULL
) STRICT;
