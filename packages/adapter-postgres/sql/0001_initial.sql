-- Times are milliseconds since the Unix epoch. Digests are SHA-256. JSON is text: jsonb refuses U+0000 and changes what
-- it keeps. COLLATE "C": ids are compared and ordered by their bytes, whatever the locale of the database is.
-- No table holds a code, a token, a session id, a client secret or an API key: only digests of them. Secrets of partners,
-- of webhooks and of signing keys are sealed.

CREATE TABLE clients (
  client_id text COLLATE "C" PRIMARY KEY,
  version integer NOT NULL,
  disabled_at bigint,
  -- The partner that owns it.
  partner text COLLATE "C",
  -- The whole client as JSON; the columns before it repeat members of it.
  record text NOT NULL,
  -- True if the partner that owns it is disabled. Repeats the partner's row, so that a client needs no second query. Disabling
  -- the partner writes this row, which a call that issues a grant has locked.
  partner_disabled boolean NOT NULL DEFAULT false
);

CREATE INDEX clients_by_partner ON clients (partner) WHERE partner IS NOT NULL;

-- Origins of web redirect URIs, as a browser sends them.
CREATE TABLE client_origins (
  origin text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL REFERENCES clients (client_id) ON DELETE CASCADE,
  PRIMARY KEY (origin, client_id)
);

CREATE INDEX client_origins_by_client ON client_origins (client_id);

-- Logos that the pages show beside the name of a client, PNG. Apart from the clients, which every request reads.
CREATE TABLE client_logos (
  client_id text COLLATE "C" PRIMARY KEY REFERENCES clients (client_id),
  png bytea NOT NULL
);

-- Consents of users. A revoked consent is kept, and the next one is another row.
CREATE TABLE consents (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  sub text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL REFERENCES clients (client_id),
  scopes text[] COLLATE "C" NOT NULL,
  granted_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  revoked_at bigint,
  -- Time at which a code was last issued for the consent, at most an hour too early. NULL: never.
  used_at bigint
);

CREATE UNIQUE INDEX consents_unrevoked ON consents (sub, client_id) WHERE revoked_at IS NULL;
CREATE INDEX consents_unrevoked_by_client ON consents (client_id) WHERE revoked_at IS NULL;
-- Tells whether a user has revoked a consent, which an import must not bring back.
CREATE INDEX consents_revoked ON consents (sub, client_id) WHERE revoked_at IS NOT NULL;

-- One row per authorization: the code, and the columns that decide about its tokens on every use. No reference to the client, which is
-- never removed: all authorizations of a busy client would lock its row.
CREATE TABLE grants (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  code_digest bytea NOT NULL UNIQUE CHECK (octet_length(code_digest) = 32),
  client_id text COLLATE "C" NOT NULL,
  sub text COLLATE "C" NOT NULL,
  scopes text[] COLLATE "C" NOT NULL,
  redirect_uri text NOT NULL,
  code_challenge text,
  nonce text,
  authenticated_at bigint NOT NULL,
  issued_at bigint NOT NULL,
  -- End of the code.
  expires_at bigint NOT NULL,
  -- End of the code and of its token, whichever is later. The purge walks along this column, so that it never
  -- reads rows that it cannot delete.
  ends_at bigint NOT NULL,
  consumed_at bigint,
  revoked_at bigint,
  failed_verifiers integer NOT NULL DEFAULT 0,
  -- Session id of the sign-in for client apps.
  sid text NOT NULL
);

CREATE INDEX grants_by_user ON grants (sub, client_id);
CREATE INDEX grants_by_client ON grants (client_id);
CREATE INDEX grants_by_end ON grants (ends_at);

CREATE TABLE access_tokens (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  grant_id bigint NOT NULL REFERENCES grants (id),
  issued_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  revoked_at bigint,
  -- Scopes of a token that has fewer of them than its grant. NULL: those of the grant.
  scopes text[] COLLATE "C"
);

CREATE INDEX access_tokens_by_grant ON access_tokens (grant_id);
CREATE INDEX access_tokens_by_end ON access_tokens (expires_at);

-- Refresh tokens. A grant has at most one that was not replaced, and the one that this one replaced. A replaced token that is
-- presented again, even after its row is gone, ends the grant.
CREATE TABLE refresh_tokens (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  grant_id bigint NOT NULL REFERENCES grants (id),
  expires_at bigint NOT NULL,
  replaced_at bigint,
  -- The token for which a replaced one may be presented once more.
  successor bytea,
  -- SHA-256 of the part that all refresh tokens of a grant share. It identifies a replaced token whose row is gone.
  family bytea NOT NULL
);

CREATE UNIQUE INDEX refresh_tokens_live ON refresh_tokens (grant_id) WHERE replaced_at IS NULL;
CREATE INDEX refresh_tokens_by_grant ON refresh_tokens (grant_id);
CREATE INDEX refresh_tokens_by_end ON refresh_tokens (expires_at);
CREATE INDEX refresh_tokens_by_family ON refresh_tokens (family);

-- Short-lived, each written several times: room in the pages, and vacuumed early.
CREATE TABLE interactions (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  payload text NOT NULL,
  expires_at bigint NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX interactions_by_end ON interactions (expires_at);

-- Answers to authorization requests that have ended, kept for a minute: a browser that sends a form twice gets the same answer.
CREATE TABLE interaction_answers (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  payload text NOT NULL,
  expires_at bigint NOT NULL
);

CREATE INDEX interaction_answers_by_end ON interaction_answers (expires_at);

-- Authorization requests that clients pushed, for a minute. A used one is kept until its end.
CREATE TABLE pushed_requests (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  client_id text COLLATE "C" NOT NULL,
  payload text NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX pushed_requests_by_end ON pushed_requests (expires_at);

-- Sessions of the console, identity checks of sandbox users and marks of first runs.
CREATE TABLE sandbox_records (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  payload text NOT NULL,
  expires_at bigint NOT NULL
);

CREATE INDEX sandbox_records_by_end ON sandbox_records (expires_at);

-- Ids of signed proofs that were used. The digest is of the id and of everything else that makes it unique.
CREATE TABLE used_ids (
  namespace text COLLATE "C" NOT NULL,
  digest bytea NOT NULL CHECK (octet_length(digest) = 32),
  expires_at bigint NOT NULL,
  PRIMARY KEY (namespace, digest)
);

CREATE INDEX used_ids_by_end ON used_ids (expires_at);

CREATE TABLE signing_keys (
  kid text COLLATE "C" PRIMARY KEY,
  alg text COLLATE "C" NOT NULL,
  public_jwk text NOT NULL,
  sealed_private_jwk text NOT NULL,
  created_at bigint NOT NULL,
  active_from bigint NOT NULL
);

-- claim_id and lease_ends_at are set together, while a worker has claimed the job. A job that fails is always
-- retried. No index has them, so that a claim
-- changes the page of the row and nothing else (HOT). A row lives as long as its job: vacuumed by count, not by share,
-- or the dead rows of a burst would be walked over by every claim.
CREATE TABLE jobs (
  id text COLLATE "C" PRIMARY KEY,
  kind text COLLATE "C" NOT NULL,
  payload text NOT NULL,
  due_at bigint NOT NULL,
  attempt integer NOT NULL DEFAULT 0,
  claim_id text COLLATE "C",
  lease_ends_at bigint,
  last_error text,
  -- `mode:partner`, and '' for the host's own jobs. A claim takes a share of each owner, and walks from one owner to the next
  -- along an index.
  owner text COLLATE "C" NOT NULL DEFAULT ''
) WITH (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX jobs_due ON jobs (kind, due_at);
CREATE INDEX jobs_by_owner ON jobs (kind, owner, due_at);

-- Number of requests of each key, partner or client address in its current window. Every request that is counted writes
-- one row. Unlogged, because nothing is lost with it: no write waits for the disk or goes to a replica, and after
-- a crash or a failover all windows begin anew. Only the first request of a window changes an indexed column; the others
-- change the page of the row and nothing else (HOT), for which there is room in it. Vacuumed by count, like jobs.
CREATE UNLOGGED TABLE rate_limits (
  bucket text COLLATE "C" PRIMARY KEY,
  -- Number of requests that were counted of those that came together last.
  granted integer NOT NULL,
  count integer NOT NULL,
  ends_at bigint NOT NULL
) WITH (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX rate_limits_by_end ON rate_limits (ends_at);

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

CREATE TABLE webhook_endpoints (
  id text COLLATE "C" PRIMARY KEY,
  partner text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
  url text NOT NULL,
  -- Types of events, or {*}.
  events text[] COLLATE "C" NOT NULL,
  enabled boolean NOT NULL,
  sealed_secret text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  version integer NOT NULL
);

CREATE INDEX webhook_endpoints_by_owner ON webhook_endpoints (partner, mode, id);

-- State of each endpoint for claims. Publishing never writes these rows. A claim walks along them, and reads of each endpoint
-- only the deliveries that it claims. Deliveries that were published come in the order of their numbers,
-- which is that of the commits, after the last one that was claimed; those that were claimed before come by the time at which
-- they are ready. So a claim never passes deliveries that were removed, however long PostgreSQL keeps their rows.
CREATE TABLE endpoint_queues (
  -- Id of the endpoint. The row is made and removed with it.
  endpoint_id text COLLATE "C" PRIMARY KEY,
  partner text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
  -- Number of the last delivery that was claimed for the first time.
  claimed_to bigint NOT NULL DEFAULT 0,
  -- Time before which no delivery that was claimed before is ready.
  next_due bigint,
  -- Time of the last claim. The endpoint that has waited longest is next.
  served_at bigint NOT NULL DEFAULT 0,
  -- Grows with every change.
  revision bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Owners take turns at claims. The owner whose latest row is the oldest has waited longest.
CREATE INDEX endpoint_queues_by_turn ON endpoint_queues (partner, mode, served_at);
CREATE INDEX endpoint_queues_due ON endpoint_queues (next_due) WHERE next_due IS NOT NULL;

-- The number of the last event of each sequence. Kept when the events are purged, so that no number comes twice. Calls
-- that publish for this partner and mode lock its row until the commit, so numbers have no gap and follow the order of the
-- commits. Calls that change the partner's endpoints or deliver again lock it too.
CREATE TABLE event_sequences (
  partner text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
  last bigint NOT NULL,
  -- Publishing counts the news of a partner and mode. A claim that leaves nothing records how far it has seen.
  news bigint NOT NULL DEFAULT 1,
  seen bigint NOT NULL DEFAULT 0,
  -- A column of its own, so that no index has those that change all the time (HOT).
  has_news boolean NOT NULL GENERATED ALWAYS AS (news > seen) STORED,
  PRIMARY KEY (partner, mode)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE INDEX event_sequences_news ON event_sequences (partner, mode) WHERE has_news;

CREATE TABLE events (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  partner text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
  -- 1, 2, 3, … per partner and mode, without a gap.
  sequence bigint NOT NULL,
  type text COLLATE "C" NOT NULL,
  -- The text that is signed and sent, byte for byte.
  body text NOT NULL,
  created_at bigint NOT NULL,
  UNIQUE (partner, mode, sequence)
);

CREATE INDEX events_by_type ON events (partner, mode, type, sequence);

-- One row per event and endpoint that it goes to, in the order of their creation: what partners read. It is written when
-- it is made and once more when it becomes final. Of one event and endpoint at most one row is pending, and then it is
-- the last one.
CREATE TABLE deliveries (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  event_number bigint NOT NULL REFERENCES events (number),
  -- No reference: deliveries are kept when their endpoint is removed.
  endpoint_id text COLLATE "C" NOT NULL,
  partner text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
  status text COLLATE "C" NOT NULL CHECK (status IN ('pending', 'delivered', 'dropped', 'cancelled')),
  created_at bigint NOT NULL,
  -- Time at which the status became final.
  ended_at bigint,
  -- The attempt that made it final. In the row itself: most deliveries have no other one.
  final_attempt integer,
  final_at bigint,
  final_duration_ms bigint,
  final_http_status integer,
  final_error text,
  final_response text,
  -- Indexes of the few failed deliveries. No index has status and ended_at themselves, and more than half of each page is left
  -- free: so the end of a delivery that succeeds writes its row and no index (HOT).
  failed_as text COLLATE "C" GENERATED ALWAYS AS (CASE WHEN status IN ('dropped', 'cancelled') THEN status END) STORED,
  dropped_at bigint GENERATED ALWAYS AS (CASE WHEN status = 'dropped' THEN ended_at END) STORED
) WITH (fillfactor = 40, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX deliveries_failed ON deliveries (partner, mode, failed_as, created_at, id) WHERE failed_as IS NOT NULL;
CREATE INDEX deliveries_failed_by_endpoint ON deliveries (endpoint_id, failed_as, created_at, id)
  WHERE failed_as IS NOT NULL;
CREATE INDEX deliveries_dropped ON deliveries (endpoint_id, dropped_at) WHERE dropped_at IS NOT NULL;
-- For the purge. An index of the plain column would also be chosen for the list of an owner with a large share of all
-- deliveries, which would read those of all others if this owner's newest are old.
CREATE INDEX deliveries_by_age ON deliveries ((created_at + 0));
CREATE INDEX deliveries_by_event ON deliveries (event_number, endpoint_id);
CREATE INDEX deliveries_by_endpoint ON deliveries (endpoint_id, created_at, id);
CREATE INDEX deliveries_by_owner ON deliveries (partner, mode, created_at, id);

-- Work of the workers: one narrow row per pending delivery, removed when it is final, so that claims and
-- retries neither touch the indexes above nor slow down as the log grows. Made and removed in the transaction that
-- writes the delivery's status. Vacuumed by count and without a pause, because a claim reads dead rows too.
-- No index has the columns that a claim writes, and half of each page is left free, so that a claim writes rows and no
-- index (HOT). It skips rows that others have locked.
CREATE TABLE pending_deliveries (
  -- Id of the delivery, repeated, because results name it.
  id text COLLATE "C" PRIMARY KEY,
  number bigint NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  event_number bigint NOT NULL,
  -- Due time of the next attempt.
  due_at bigint NOT NULL,
  claim_id text COLLATE "C",
  -- Number of attempts, including those that were cut off.
  attempts integer NOT NULL DEFAULT 0,
  -- Time from which it can be claimed again: the end of its lease, or the time of its next attempt. NULL: it was never
  -- claimed, and is found by its number.
  ready_at bigint,
  -- Number of numbered attempts that were cut off, by a worker that stopped or died during the attempt. They are no
  -- failures of the endpoint.
  cut_off integer NOT NULL DEFAULT 0
) WITH (
  fillfactor = 40,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX pending_deliveries_published ON pending_deliveries (endpoint_id, number);
CREATE INDEX pending_deliveries_ready ON pending_deliveries (endpoint_id, ready_at, number) WHERE ready_at IS NOT NULL;

-- Attempts that were followed by others. Removed with their delivery, by the purge.
CREATE TABLE delivery_attempts (
  delivery_number bigint NOT NULL,
  number integer NOT NULL,
  at bigint NOT NULL,
  duration_ms bigint NOT NULL,
  http_status integer,
  error text,
  -- The beginning of the answer's body.
  response text,
  PRIMARY KEY (delivery_number, number)
);

-- The latest requests to the partner API, which the console shows to the people of each partner.
CREATE TABLE logged_requests (
  id text COLLATE "C" PRIMARY KEY,
  partner text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
  key_id text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  duration_ms bigint NOT NULL,
  method text NOT NULL,
  route text NOT NULL,
  status integer NOT NULL,
  code text,
  sent text,
  answered text
);

CREATE INDEX logged_requests_by_time ON logged_requests (partner, mode, created_at, id);
CREATE INDEX logged_requests_failed ON logged_requests (partner, mode, created_at, id) WHERE status >= 400;
CREATE INDEX logged_requests_by_age ON logged_requests (created_at);

-- Actions of administrators. Kept without end; nothing in it is changed.
CREATE TABLE audit (
  id text COLLATE "C" PRIMARY KEY,
  at bigint NOT NULL,
  actor text NOT NULL,
  action text COLLATE "C" NOT NULL,
  target text COLLATE "C" NOT NULL,
  -- A JSON object as text. Never holds a secret.
  details text NOT NULL,
  -- The chain: 1, 2, 3, … in the order of the commits, and SHA-256 over the value before (32 zero bytes at first) and the
  -- digest of the act. NULL: outside of the chain.
  number bigint,
  chain bytea CHECK (octet_length(chain) = 32)
);

CREATE INDEX audit_by_time ON audit (at, id);
CREATE INDEX audit_by_target ON audit (target, at, id);
CREATE UNIQUE INDEX audit_by_number ON audit (number) WHERE number IS NOT NULL;
CREATE INDEX audit_outside ON audit (id) WHERE number IS NULL;

-- The end of the chain, in one row that the first act makes, and how many acts had been there before. Every act writes
-- it last, so that acts wait for each other and for nothing else.
CREATE TABLE audit_head (
  id integer PRIMARY KEY CHECK (id = 1),
  number bigint NOT NULL,
  chain bytea NOT NULL CHECK (octet_length(chain) = 32),
  before bigint NOT NULL
) WITH (fillfactor = 20);
