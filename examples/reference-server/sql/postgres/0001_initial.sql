-- Indexed texts are ordered by their bytes, so that no new version of the database's locale makes an index wrong.
CREATE TABLE users (
  sub text COLLATE "C" PRIMARY KEY,
  kid text COLLATE "C" NOT NULL CONSTRAINT users_kid_key UNIQUE,
  handle text NOT NULL,
  phone text COLLATE "C" NOT NULL CONSTRAINT users_phone_key UNIQUE,
  name text NOT NULL,
  avatar_url text,
  role text NOT NULL,
  country text NOT NULL,
  kyc_tier integer NOT NULL CHECK (kyc_tier BETWEEN 0 AND 3),
  kyc_status text NOT NULL CHECK (kyc_status IN ('approved', 'pending', 'rejected')),
  trust_score integer NOT NULL CHECK (trust_score BETWEEN 0 AND 100),
  trust_tier text NOT NULL,
  password_hash text NOT NULL,
  created_at bigint NOT NULL,
  blocked_at bigint
);
-- The collation folds ASCII and nothing else, whatever the language of the database.
CREATE UNIQUE INDEX users_handle_key ON users (lower(handle COLLATE "C"));

-- Addresses to which notices for users are sent. Apps never receive them.
CREATE TABLE user_emails (
  sub text COLLATE "C" PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  email text NOT NULL
);

CREATE TABLE credentials (
  id text COLLATE "C" PRIMARY KEY,
  sub text COLLATE "C" NOT NULL REFERENCES users ON DELETE CASCADE,
  type text NOT NULL,
  issued_at bigint NOT NULL,
  expires_at bigint
);
CREATE INDEX credentials_by_sub ON credentials (sub);

CREATE TABLE sessions (
  digest bytea PRIMARY KEY,
  sub text COLLATE "C" NOT NULL REFERENCES users ON DELETE CASCADE,
  authenticated_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  ends_at bigint NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX sessions_by_sub ON sessions (sub);
CREATE INDEX sessions_by_end ON sessions (ends_at);

CREATE TABLE throttle (
  subject bytea PRIMARY KEY,
  failures integer NOT NULL,
  ends_at bigint NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX throttle_by_end ON throttle (ends_at);

-- Balances change with every payment. Half of each page is left free, so that a payment writes no index of this table (HOT).
CREATE TABLE accounts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('user', 'partner', 'external')),
  owner text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL CHECK (currency IN ('HTG', 'USD')),
  balance bigint NOT NULL,
  UNIQUE (kind, owner, currency),
  CHECK (kind = 'external' OR balance >= 0)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
CREATE TABLE movements (
  id text COLLATE "C" PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('opening', 'funding', 'transfer')),
  currency text NOT NULL CHECK (currency IN ('HTG', 'USD')),
  posted_at bigint NOT NULL
);
CREATE TABLE postings (
  movement_id text COLLATE "C" NOT NULL REFERENCES movements,
  account_id bigint NOT NULL REFERENCES accounts,
  amount bigint NOT NULL CHECK (amount <> 0),
  PRIMARY KEY (movement_id, account_id)
);
CREATE INDEX postings_by_account ON postings (account_id);
CREATE TABLE executions (
  transfer_id text COLLATE "C" PRIMARY KEY,
  failure text,
  decided_at bigint NOT NULL
);
CREATE FUNCTION postings_stay() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN RAISE EXCEPTION 'a posting is never changed or deleted'; END $$;
CREATE TRIGGER postings_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON postings
  FOR EACH STATEMENT EXECUTE FUNCTION postings_stay();

CREATE TABLE nodes (
  id text COLLATE "C" PRIMARY KEY,
  role text NOT NULL,
  facts text NOT NULL,
  started_at bigint NOT NULL,
  seen_at bigint NOT NULL
) WITH (fillfactor = 50);

-- People who run the service. They are not users.
CREATE TABLE staff (
  id text COLLATE "C" PRIMARY KEY,
  email text NOT NULL,
  role text NOT NULL CHECK (role IN ('viewer', 'support', 'admin', 'owner')),
  password_hash text,
  -- Secret of the one-time codes, sealed, and the last time step whose code was used.
  totp text,
  totp_step bigint NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  disabled_at bigint
);
CREATE UNIQUE INDEX staff_email_key ON staff (lower(email COLLATE "C"));

CREATE TABLE staff_passkeys (
  id text COLLATE "C" PRIMARY KEY,
  staff_id text COLLATE "C" NOT NULL REFERENCES staff ON DELETE CASCADE,
  public_key bytea NOT NULL,
  -- Number of signatures, which a copied passkey repeats.
  counter bigint NOT NULL,
  created_at bigint NOT NULL,
  used_at bigint
);
CREATE INDEX staff_passkeys_by_staff ON staff_passkeys (staff_id);

-- Digests of recovery codes.
CREATE TABLE staff_codes (
  digest bytea PRIMARY KEY,
  staff_id text COLLATE "C" NOT NULL REFERENCES staff ON DELETE CASCADE
);
CREATE INDEX staff_codes_by_staff ON staff_codes (staff_id);

-- The link of each person who has not set up a sign-in yet.
CREATE TABLE staff_links (
  staff_id text COLLATE "C" PRIMARY KEY REFERENCES staff ON DELETE CASCADE,
  digest bytea NOT NULL,
  ends_at bigint NOT NULL
);

CREATE TABLE staff_sessions (
  digest bytea PRIMARY KEY,
  staff_id text COLLATE "C" NOT NULL REFERENCES staff ON DELETE CASCADE,
  authenticated_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  ends_at bigint NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX staff_sessions_by_staff ON staff_sessions (staff_id);
CREATE INDEX staff_sessions_by_end ON staff_sessions (ends_at);

-- Challenges of passkeys that were answered, until they expire.
CREATE TABLE staff_challenges (
  digest bytea PRIMARY KEY,
  ends_at bigint NOT NULL
);
CREATE INDEX staff_challenges_by_end ON staff_challenges (ends_at);
