-- Times are milliseconds since the Unix epoch. Digests are SHA-256. JSON is text: jsonb refuses U+0000 and changes what
-- it keeps. COLLATE "C": ids are compared and ordered by their bytes, whatever the locale of the database is.
-- No table holds a code, a token, a session id or a client secret: only digests of them.

CREATE TABLE clients (
  client_id text COLLATE "C" PRIMARY KEY,
  version integer NOT NULL,
  disabled_at bigint,
  -- The partner that owns it.
  partner text COLLATE "C",
  -- The whole client as JSON; the columns above repeat members of it.
  record text NOT NULL
);

CREATE INDEX clients_by_partner ON clients (partner) WHERE partner IS NOT NULL;

-- Origins of web redirect URIs, as a browser sends them.
CREATE TABLE client_origins (
  origin text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL REFERENCES clients (client_id) ON DELETE CASCADE,
  PRIMARY KEY (origin, client_id)
);

CREATE INDEX client_origins_by_client ON client_origins (client_id);

-- What users allow until they revoke it. A revoked consent is kept, and the next one is another row.
CREATE TABLE consents (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  sub text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL REFERENCES clients (client_id),
  scopes text[] COLLATE "C" NOT NULL,
  granted_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  revoked_at bigint
);

CREATE UNIQUE INDEX consents_unrevoked ON consents (sub, client_id) WHERE revoked_at IS NULL;
CREATE INDEX consents_unrevoked_by_client ON consents (client_id) WHERE revoked_at IS NULL;

-- One row per authorization: the code, and what its token is judged by on every use. No reference to the client, which is
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
  failed_verifiers integer NOT NULL DEFAULT 0
);

CREATE INDEX grants_by_user ON grants (sub, client_id);
CREATE INDEX grants_by_client ON grants (client_id);
CREATE INDEX grants_by_end ON grants (ends_at);

CREATE TABLE access_tokens (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  grant_id bigint NOT NULL REFERENCES grants (id),
  issued_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  revoked_at bigint
);

CREATE INDEX access_tokens_by_grant ON access_tokens (grant_id);
CREATE INDEX access_tokens_by_end ON access_tokens (expires_at);

-- Short-lived, each written several times: room in the pages, and vacuumed early.
CREATE TABLE interactions (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  payload text NOT NULL,
  expires_at bigint NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX interactions_by_end ON interactions (expires_at);

CREATE TABLE signing_keys (
  kid text COLLATE "C" PRIMARY KEY,
  alg text COLLATE "C" NOT NULL,
  public_jwk text NOT NULL,
  sealed_private_jwk text NOT NULL,
  created_at bigint NOT NULL,
  active_from bigint NOT NULL
);

-- claim_id and lease_ends_at are set together, while somebody works on the job. No index has them, so that a claim
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
  dropped_at bigint,
  last_error text
) WITH (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX jobs_due ON jobs (kind, due_at) WHERE dropped_at IS NULL;
CREATE INDEX jobs_dropped ON jobs (kind, dropped_at) WHERE dropped_at IS NOT NULL;

-- How many requests each key, partner or client address made in its current window. One row is written by every request
-- that is counted. Unlogged, because nothing is lost with it: no write waits for the disk or goes to a replica, and after
-- a crash or a failover all windows begin anew. Only the first request of a window changes an indexed column; the others
-- change the page of the row and nothing else (HOT), for which there is room in it. Vacuumed by count, like jobs.
CREATE UNLOGGED TABLE rate_limits (
  bucket text COLLATE "C" PRIMARY KEY,
  -- How many of the requests that came together last were counted.
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
