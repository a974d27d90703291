-- Webhook endpoints, the events of partners, and their deliveries. Times are milliseconds since the Unix epoch. No table
-- holds a webhook secret, unless sealed.

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

-- The number of the last event of each sequence. Kept when the events are purged, so that no number comes twice. Its row
-- is locked by whoever publishes for this partner and mode until the commit, which is why numbers have no gap and follow
-- the order of the commits; whoever changes the partner's endpoints, delivers again or purges its events locks it too.
CREATE TABLE event_sequences (
  partner text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
  last bigint NOT NULL,
  PRIMARY KEY (partner, mode)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

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
  -- When the status became final.
  ended_at bigint,
  -- The attempt that made it final. In the row itself: most deliveries have no other one.
  final_attempt integer,
  final_at bigint,
  final_duration_ms bigint,
  final_http_status integer,
  final_error text,
  final_response text,
  -- Of the few that came to nothing. No index has status and ended_at themselves, and more than half of each page is left
  -- free: so the end of a delivery that succeeds writes its row and no index (HOT).
  failed_as text COLLATE "C" GENERATED ALWAYS AS (CASE WHEN status IN ('dropped', 'cancelled') THEN status END) STORED,
  dropped_at bigint GENERATED ALWAYS AS (CASE WHEN status = 'dropped' THEN ended_at END) STORED
) WITH (fillfactor = 40, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX deliveries_failed ON deliveries (partner, mode, failed_as, created_at, id) WHERE failed_as IS NOT NULL;
CREATE INDEX deliveries_dropped ON deliveries (endpoint_id, dropped_at) WHERE dropped_at IS NOT NULL;
CREATE INDEX deliveries_by_age ON deliveries (created_at);
CREATE INDEX deliveries_by_event ON deliveries (event_number, endpoint_id);
CREATE INDEX deliveries_by_endpoint ON deliveries (endpoint_id, created_at, id);
CREATE INDEX deliveries_by_owner ON deliveries (partner, mode, created_at, id);

-- What workers walk along and write: one narrow row per pending delivery, gone when it is final, so that claims and
-- retries neither touch the indexes above nor slow down as the log grows. Made and removed in the transaction that
-- writes the delivery's status. Vacuumed by count and without a pause: dead rows are what a claim has to walk over.
-- No index has what a claim writes, and half of each page is left free: so a claim writes rows and no index (HOT), and
-- passes over what others hold.
CREATE TABLE pending_deliveries (
  -- The delivery's, repeated: results come with it.
  id text COLLATE "C" PRIMARY KEY,
  number bigint NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  event_number bigint NOT NULL,
  -- When the next attempt is due.
  due_at bigint NOT NULL,
  -- The end of the last claim's lease: until then nobody else gets it.
  held_until bigint NOT NULL DEFAULT 0,
  claim_id text COLLATE "C",
  -- How many attempts are logged.
  attempts integer NOT NULL DEFAULT 0
) WITH (
  fillfactor = 40,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX pending_deliveries_by_endpoint ON pending_deliveries (endpoint_id, due_at, number);
-- For claims among very many endpoints that mostly wait for a later attempt.
CREATE INDEX pending_deliveries_due ON pending_deliveries (due_at);

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
