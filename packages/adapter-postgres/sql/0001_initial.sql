-- Times are milliseconds since the Unix epoch. Digests are SHA-256. JSON is stored as text, because jsonb refuses U+0000 and
-- does not keep the text unchanged. COLLATE "C" compares and orders ids by their bytes, whatever the database's locale.
-- Of codes, tokens, session ids, client secrets and API keys only digests are stored. Signing secrets of API keys and
-- webhooks and private signing keys are stored encrypted ("sealed").

CREATE TABLE clients (
  client_id text COLLATE "C" PRIMARY KEY,
  version integer NOT NULL,
  disabled_at bigint,
  -- Slug of the partner that owns the client.
  partner text COLLATE "C",
  -- The whole client as JSON; the columns before it repeat members of it.
  record text NOT NULL,
  -- True if the client's partner is disabled. Copied from the partner's row, so that reading a client needs no second query.
  -- Disabling the partner writes this row, and so waits for a call that is issuing a grant, which has locked it.
  partner_disabled boolean NOT NULL DEFAULT false,
  -- Name by which lists are sorted and searched. NULL: the client is described by its metadata document, and not listed.
  search_name text COLLATE "C",
  created_at bigint NOT NULL
);

CREATE INDEX clients_by_partner ON clients (partner) WHERE partner IS NOT NULL;
CREATE INDEX clients_by_name ON clients (search_name, client_id) WHERE search_name IS NOT NULL;
CREATE INDEX clients_by_creation ON clients (created_at, client_id) WHERE search_name IS NOT NULL;

-- Origins of clients' redirect URIs, as browsers send them.
CREATE TABLE client_origins (
  origin text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL REFERENCES clients (client_id) ON DELETE CASCADE,
  PRIMARY KEY (origin, client_id)
);

CREATE INDEX client_origins_by_client ON client_origins (client_id);

-- Logos of clients, PNG. Kept apart from the table of clients, which every request reads.
CREATE TABLE client_logos (
  client_id text COLLATE "C" PRIMARY KEY REFERENCES clients (client_id),
  png bytea NOT NULL
);

-- Clients that a client ID metadata document describes. The purge removes them with their consents a month after their last use,
-- unless they have grants or are disabled.
CREATE TABLE client_documents (
  client_id text COLLATE "C" PRIMARY KEY REFERENCES clients (client_id) ON DELETE CASCADE,
  -- Time of the last authorization request, at most an hour too early.
  used_at bigint NOT NULL
);

CREATE INDEX client_documents_by_use ON client_documents (used_at);

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
  used_at bigint,
  -- Optional scopes that the user left out.
  declined text[] COLLATE "C" NOT NULL DEFAULT '{}'
);

CREATE UNIQUE INDEX consents_unrevoked ON consents (sub, client_id) WHERE revoked_at IS NULL;
CREATE INDEX consents_by_client ON consents (client_id);
-- Finds revoked consents of a user, which an import must not bring back.
CREATE INDEX consents_revoked ON consents (sub, client_id) WHERE revoked_at IS NOT NULL;

-- One row per authorization: its code, and the columns that every use of its tokens checks. Without a foreign key to the client,
-- which is never removed while it has a grant: all authorizations of a busy client would lock its row.
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
  -- Expiry of the code. Its tokens have their own.
  expires_at bigint NOT NULL,
  -- Latest expiry of the code, its access tokens and its refresh tokens. The purge walks along this column, so that it does
  -- not read grants whose tokens are still valid.
  ends_at bigint NOT NULL,
  consumed_at bigint,
  revoked_at bigint,
  failed_verifiers integer NOT NULL DEFAULT 0,
  -- Session id of the sign-in for client apps.
  sid text NOT NULL,
  -- JSON: content of ID tokens besides the claims that each has.
  id_token_details text,
  -- Resources that the request named (RFC 8707). NULL: none.
  resources text[] COLLATE "C",
  -- Thumbprint of the DPoP key that the code is bound to, or that its first access token was bound to. NULL: none.
  dpop_jkt text COLLATE "C"
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
  -- Scopes of a token that has fewer than its grant. NULL: the token has the grant's scopes.
  scopes text[] COLLATE "C",
  -- Resources of a token that has fewer than its grant. NULL: the token has the grant's resources.
  resources text[] COLLATE "C",
  -- Thumbprint of the DPoP key that the token is bound to. NULL: a bearer token.
  dpop_jkt text COLLATE "C"
);

CREATE INDEX access_tokens_by_grant ON access_tokens (grant_id);
CREATE INDEX access_tokens_by_end ON access_tokens (expires_at);

-- Refresh tokens. A grant has at most one that was not replaced, and its predecessor. A replaced token that is presented again,
-- even after its row is gone, revokes the grant.
CREATE TABLE refresh_tokens (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  grant_id bigint NOT NULL REFERENCES grants (id),
  expires_at bigint NOT NULL,
  replaced_at bigint,
  -- Digest of the successor, which a replaced token still returns during the grace period.
  successor bytea,
  -- SHA-256 of the part that all refresh tokens of a grant share. It identifies a replaced token whose row is gone.
  family bytea NOT NULL
);

CREATE UNIQUE INDEX refresh_tokens_live ON refresh_tokens (grant_id) WHERE replaced_at IS NULL;
CREATE INDEX refresh_tokens_by_grant ON refresh_tokens (grant_id);
CREATE INDEX refresh_tokens_by_end ON refresh_tokens (expires_at);
CREATE INDEX refresh_tokens_by_family ON refresh_tokens (family);

-- Rows are short-lived and written several times: hence free space in the pages, and early vacuuming.
CREATE TABLE interactions (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  payload text NOT NULL,
  expires_at bigint NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX interactions_by_end ON interactions (expires_at);

-- Responses to ended authorization requests, kept for a minute: a browser that sends a form twice gets the same response.
CREATE TABLE interaction_answers (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  payload text NOT NULL,
  expires_at bigint NOT NULL
);

CREATE INDEX interaction_answers_by_end ON interaction_answers (expires_at);

-- Authorization requests that clients pushed, kept for a minute, even after their use.
CREATE TABLE pushed_requests (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  client_id text COLLATE "C" NOT NULL,
  payload text NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX pushed_requests_by_end ON pushed_requests (expires_at);

-- Records that expire: sessions of the console, identity checks of sandbox users, marks of first runs and of listeners, and
-- sealed secrets that wait to be shown once.
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

-- claim_id and lease_ends_at are set together, while a worker has claimed the job. No index contains them, so that a claim
-- changes only the page of the row (HOT). A job that fails is always retried. A row lives as long as its job. The table is
-- vacuumed by the number of dead rows, not by their share: otherwise every claim would walk over the dead rows of a burst.
CREATE TABLE jobs (
  id text COLLATE "C" PRIMARY KEY,
  kind text COLLATE "C" NOT NULL,
  payload text NOT NULL,
  due_at bigint NOT NULL,
  attempt integer NOT NULL DEFAULT 0,
  claim_id text COLLATE "C",
  lease_ends_at bigint,
  last_error text,
  -- Owner of the job: `mode:partner`, or '' for the host. A claim takes a share of each owner's jobs, and jumps from owner to
  -- owner along an index.
  owner text COLLATE "C" NOT NULL DEFAULT ''
) WITH (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX jobs_by_owner ON jobs (kind, owner, due_at);

-- Number of requests of each key, partner or client address in its current window. Every request that is counted or refused
-- writes its row.
-- Unlogged, so that no write waits for the disk or goes to a replica; after a crash or a failover all windows begin anew,
-- which does no harm. Only the first request of a window changes an indexed column. The others change only the page of the
-- row (HOT), which has free space for that. Vacuumed by the number of dead rows, like jobs.
CREATE UNLOGGED TABLE rate_limits (
  bucket text COLLATE "C" PRIMARY KEY,
  -- Number of requests of the last batch that were counted; in a new row the limit.
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
  -- Name by which lists are sorted and searched: lower-case words without accents.
  search_name text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  disabled_at bigint,
  version integer NOT NULL
);

CREATE INDEX partners_by_name ON partners (search_name, slug);
CREATE INDEX partners_by_creation ON partners (created_at, slug);

CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY,
  partner text COLLATE "C" NOT NULL REFERENCES partners (slug),
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
  name text NOT NULL,
  search_name text COLLATE "C" NOT NULL,
  -- Beginning of the key, by which people find it.
  start text COLLATE "C" NOT NULL,
  digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
  scopes text[] COLLATE "C" NOT NULL,
  -- CIDR ranges from which the key may be used. NULL: every address.
  allowlist text[] COLLATE "C",
  require_signature boolean NOT NULL,
  sealed_signing_secret text NOT NULL,
  quota_id text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  last_used_at bigint,
  -- Time of the notice that the key expires soon.
  end_noticed_at bigint
);

CREATE INDEX api_keys_by_partner ON api_keys (partner, created_at DESC, id);
CREATE INDEX api_keys_by_name ON api_keys (search_name, id);
CREATE INDEX api_keys_by_creation ON api_keys (created_at, id);
CREATE INDEX api_keys_by_start ON api_keys (start, id);
CREATE INDEX api_keys_by_end ON api_keys (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE transfers (
  id text COLLATE "C" PRIMARY KEY,
  partner text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
  status text COLLATE "C" NOT NULL CHECK (status IN ('pending', 'completed', 'failed')),
  -- Amount in minor units. Read it as text, because a double cannot hold it exactly.
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
-- For lists of all partners' transfers. The status is in it, so that a filter reads no transfers of another status. On an
-- expression, because PostgreSQL would use an index on the plain column also for the list of one partner.
CREATE INDEX transfers_by_time ON transfers (mode, (created_at + 0), status);
-- For exports, which walk along this index page by page. Final rows never change.
CREATE INDEX transfers_final ON transfers (partner, mode, updated_at, id) WHERE status <> 'pending';

-- Responses to requests with an Idempotency-Key, to be returned again until the record expires.
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
  url text COLLATE "C" NOT NULL,
  -- Types of events, or {*}.
  events text[] COLLATE "C" NOT NULL,
  enabled boolean NOT NULL,
  sealed_secret text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  version integer NOT NULL
);

CREATE INDEX webhook_endpoints_by_owner ON webhook_endpoints (partner, mode, id);
CREATE INDEX webhook_endpoints_by_url ON webhook_endpoints (mode, url, id);
CREATE INDEX webhook_endpoints_by_creation ON webhook_endpoints (mode, created_at, id);

-- State of each endpoint for claims. Publishing never writes these rows. A claim walks along them, and reads only the
-- deliveries that it claims. New deliveries are found by number, which is the order of the commits, after the last claimed
-- one. Deliveries that were claimed before are found by the time at which they are ready. So a claim never walks over removed
-- deliveries, however long PostgreSQL keeps their rows.
CREATE TABLE endpoint_queues (
  -- Id of the endpoint, with which the row is created and removed.
  endpoint_id text COLLATE "C" PRIMARY KEY,
  partner text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
  -- Number up to which deliveries have been claimed for the first time.
  claimed_to bigint NOT NULL DEFAULT 0,
  -- Earliest time at which a delivery that was claimed before may be ready again.
  next_due bigint,
  -- Time at which a claim last took a delivery to the endpoint. The endpoint that has waited longest is next.
  served_at bigint NOT NULL DEFAULT 0,
  -- Incremented with every change of the row, except one of `served_at` alone.
  revision bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Owners take turns at claims. The owner whose latest row is the oldest has waited longest.
CREATE INDEX endpoint_queues_by_turn ON endpoint_queues (partner, mode, served_at);
CREATE INDEX endpoint_queues_due ON endpoint_queues (next_due) WHERE next_due IS NOT NULL;

-- Endpoints that have failed: a row from the first failed attempt on. Of the results of deliveries, only failed attempts
-- and the success that ends a failure write it, after they have locked the pending deliveries, and in the order of the
-- endpoints' ids. Notices write the times of the notices.
CREATE TABLE endpoint_failures (
  -- Id of the endpoint, with which the row is removed.
  endpoint_id text COLLATE "C" PRIMARY KEY,
  -- Start of the first failed attempt. NULL: the endpoint does not fail any more.
  since bigint,
  -- The last failed attempt.
  at bigint NOT NULL,
  http_status integer,
  error text,
  -- Times of the notices of this failure, of a delivery that was dropped, and of the last recovery.
  failing_noticed_at bigint,
  given_up_noticed_at bigint,
  works_noticed_at bigint
) WITH (fillfactor = 40);

CREATE INDEX endpoint_failures_now ON endpoint_failures (since, endpoint_id) WHERE since IS NOT NULL;

-- Number of the last event of each sequence. Kept when events are purged, so that no number is used twice. Calls that
-- publish for this partner and mode lock the row until the commit, so numbers have no gap and follow the order of the
-- commits. Calls that change the partner's endpoints or redeliver lock it too.
CREATE TABLE event_sequences (
  partner text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
  last bigint NOT NULL,
  -- Incremented by every call that locks the row. A claim that leaves nothing unclaimed stores the value that it read in `seen`.
  news bigint NOT NULL DEFAULT 1,
  seen bigint NOT NULL DEFAULT 0,
  -- True if `news` is above `seen`. A separate column for the index, because an index on those two would prevent HOT.
  has_news boolean NOT NULL GENERATED ALWAYS AS (news > seen) STORED,
  PRIMARY KEY (partner, mode)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE INDEX event_sequences_news ON event_sequences (partner, mode) WHERE has_news;

CREATE TABLE events (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  partner text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
  -- Sequence number per partner and mode: 1, 2, 3, … without a gap.
  sequence bigint NOT NULL,
  type text COLLATE "C" NOT NULL,
  -- Body of the webhook, signed and sent byte for byte.
  body text NOT NULL,
  created_at bigint NOT NULL,
  -- Span that published the event (W3C Trace Context); NULL if there is none.
  traceparent text COLLATE "C",
  UNIQUE (partner, mode, sequence)
);

CREATE INDEX events_by_type ON events (partner, mode, type, sequence);
-- For lists of all partners' events. The partner and the type are in it, so that a filter reads no other events.
CREATE INDEX events_by_time ON events (mode, created_at, partner, type);

-- Deliveries as partners see them, numbered in the order of creation: one row per event and endpoint, and one more for each
-- redelivery. A row is written when it is created, when its first attempt fails, and when it becomes final. Per event and
-- endpoint at most one row is pending, and then it is the last one. No index contains status or ended_at, except partial ones of
-- the few failed deliveries, and more than half of each page is left free. So the end of a successful delivery writes its row
-- and no index (HOT).
CREATE TABLE deliveries (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  event_number bigint NOT NULL REFERENCES events (number),
  -- Without a foreign key, because deliveries are kept when their endpoint is removed.
  endpoint_id text COLLATE "C" NOT NULL,
  partner text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
  status text COLLATE "C" NOT NULL CHECK (status IN ('pending', 'delivered', 'dropped', 'cancelled')),
  created_at bigint NOT NULL,
  -- Time at which the status became final.
  ended_at bigint,
  -- Attempt that made the delivery final. In the row itself, because most deliveries have no other attempt.
  final_attempt integer,
  final_at bigint,
  final_duration_ms bigint,
  final_http_status integer,
  final_error text,
  final_response text,
  -- True if an attempt has failed and another one was planned.
  has_failed boolean NOT NULL DEFAULT false,
  -- States that few deliveries have: dropped, cancelled, and failing for a pending one of which an attempt has failed.
  failed_as text COLLATE "C" GENERATED ALWAYS AS (
    CASE WHEN status IN ('dropped', 'cancelled') THEN status WHEN status = 'pending' AND has_failed THEN 'failing' END
  ) STORED,
  dropped_at bigint GENERATED ALWAYS AS (CASE WHEN status = 'dropped' THEN ended_at END) STORED
) WITH (fillfactor = 40, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX deliveries_failed ON deliveries (partner, mode, failed_as, created_at, id) WHERE failed_as IS NOT NULL;
CREATE INDEX deliveries_failed_by_endpoint ON deliveries (endpoint_id, failed_as, created_at, id)
  WHERE failed_as IS NOT NULL;
CREATE INDEX deliveries_dropped ON deliveries (endpoint_id, dropped_at) WHERE dropped_at IS NOT NULL;
-- For the purge. On an expression, because PostgreSQL would use an index on the plain column also for the list of an owner
-- with a large share of all deliveries, and then read all other owners' deliveries if this owner's newest are old.
CREATE INDEX deliveries_by_age ON deliveries ((created_at + 0));
CREATE INDEX deliveries_by_event ON deliveries (event_number, endpoint_id);
CREATE INDEX deliveries_by_endpoint ON deliveries (endpoint_id, created_at, id);
CREATE INDEX deliveries_by_owner ON deliveries (partner, mode, created_at, id);

-- Pending deliveries for workers: one narrow row each, removed when the delivery is final, so that claims and retries neither
-- touch the indexes above nor slow down as the log grows. Created and removed in the transaction that writes the delivery's
-- status. Vacuumed by the number of dead rows and without a pause, because a claim reads dead rows too. Of the
-- columns that a claim writes, only `ready_at` is in an index. More than half of each page is left free, so that new versions
-- of a row stay in its page.
-- Claims skip rows that other transactions have locked.
CREATE TABLE pending_deliveries (
  -- Id of the delivery, repeated here because results are stored by id.
  id text COLLATE "C" PRIMARY KEY,
  number bigint NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  event_number bigint NOT NULL,
  -- Due time of the next attempt.
  due_at bigint NOT NULL,
  claim_id text COLLATE "C",
  -- Number of attempts, including those that were cut off.
  attempts integer NOT NULL DEFAULT 0,
  -- Time from which the delivery can be claimed again: the end of its lease, or the time of its next attempt. NULL: it was
  -- never claimed, and is found by its number.
  ready_at bigint,
  -- Number of attempts that were cut off because their worker stopped or crashed. They do not count as failures of the
  -- endpoint.
  cut_off integer NOT NULL DEFAULT 0
) WITH (
  fillfactor = 40,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX pending_deliveries_published ON pending_deliveries (endpoint_id, number);
CREATE INDEX pending_deliveries_ready ON pending_deliveries (endpoint_id, ready_at, number) WHERE ready_at IS NOT NULL;

-- Attempts that were followed by other attempts. The purge removes them with their delivery.
CREATE TABLE delivery_attempts (
  delivery_number bigint NOT NULL,
  number integer NOT NULL,
  at bigint NOT NULL,
  duration_ms bigint NOT NULL,
  http_status integer,
  error text,
  -- Beginning of the response body.
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
-- For lists of all partners' requests.
CREATE INDEX logged_requests_everywhere ON logged_requests (mode, created_at);
CREATE INDEX logged_requests_failed_everywhere ON logged_requests (mode, created_at) WHERE status >= 400;

-- Requests in the inboxes of test endpoints, as they arrived.
CREATE TABLE inbox_requests (
  id text COLLATE "C" PRIMARY KEY,
  partner text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
  endpoint_id text COLLATE "C" NOT NULL,
  received_at bigint NOT NULL,
  -- A JSON array of names and values, as text.
  headers text NOT NULL,
  body text NOT NULL,
  signature_error text,
  -- True once a listener has it.
  taken boolean NOT NULL DEFAULT false,
  -- A JSON object as text; NULL while there is no response.
  answer text
);

CREATE INDEX inbox_requests_by_endpoint ON inbox_requests (endpoint_id, received_at, id);
CREATE INDEX inbox_requests_by_owner ON inbox_requests (partner, mode, received_at, id);

-- Unused links to the portal in which partners see their data of live mode, and the sessions that links opened.
CREATE TABLE portal_sessions (
  id text COLLATE "C" PRIMARY KEY,
  -- SHA-256 of the secret of the link or, once it was used, of the session.
  digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
  partner text COLLATE "C" NOT NULL REFERENCES partners (slug),
  rights text COLLATE "C" NOT NULL CHECK (rights IN ('view', 'manage')),
  made_by text NOT NULL,
  created_at bigint NOT NULL,
  -- NULL until the link is used.
  opened_at bigint,
  expires_at bigint NOT NULL
);

CREATE INDEX portal_sessions_by_partner ON portal_sessions (partner, created_at, id);
CREATE INDEX portal_sessions_by_end ON portal_sessions (expires_at);

-- Counts of what the service did, per hour, for charts of operators. Every process adds to the rows of the current hour, every
-- few seconds. No index contains the columns that change, and half of each page is left free, so that this writes no index (HOT).
CREATE TABLE hourly_counts (
  -- Beginning of the hour.
  hour bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
  -- Sum of all numbers that were added, and the largest of them.
  total bigint NOT NULL,
  peak bigint NOT NULL,
  PRIMARY KEY (hour, name, mode)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Audit log of administrative acts. Rows are kept for ever and never changed.
CREATE TABLE audit (
  id text COLLATE "C" PRIMARY KEY,
  at bigint NOT NULL,
  actor text COLLATE "C" NOT NULL,
  -- Role in which an operator acted.
  role text,
  action text COLLATE "C" NOT NULL,
  target text COLLATE "C" NOT NULL,
  -- Values that the act set: a JSON object as text. Never holds a secret.
  details text NOT NULL,
  -- Place in the chain: 1, 2, 3, … in the order of the commits, and the chain value: SHA-256 over the previous value (32 zero
  -- bytes at first) and the digest of the act. NULL: outside of the chain.
  number bigint,
  chain bytea CHECK (octet_length(chain) = 32)
);

CREATE INDEX audit_by_time ON audit (at, id);
CREATE INDEX audit_by_target ON audit (target, at, id);
CREATE INDEX audit_by_actor ON audit (actor, at, id);
CREATE INDEX audit_by_action ON audit (action, at, id);
CREATE UNIQUE INDEX audit_by_number ON audit (number) WHERE number IS NOT NULL;
CREATE INDEX audit_outside ON audit (id) WHERE number IS NULL;

-- End of the audit chain, and the number of acts from before the chain: one row, which the first act creates. Every act
-- writes it as its last step, so that acts wait for each other but nothing else does.
CREATE TABLE audit_head (
  id integer PRIMARY KEY CHECK (id = 1),
  number bigint NOT NULL,
  chain bytea NOT NULL CHECK (octet_length(chain) = 32),
  before bigint NOT NULL
) WITH (fillfactor = 20);
