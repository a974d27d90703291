-- Webhook endpoints, the events of partners, and their deliveries. Times are milliseconds since the Unix epoch,
-- lists are JSON arrays of text. No table holds a webhook secret, unless sealed.

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
  -- When the next attempt is due, or the last one was.
  due_at INTEGER NOT NULL,
  -- From when on it can be claimed: due_at, or the end of the lease while somebody holds it. One column, so that
  -- one index says what can be claimed.
  ready_at INTEGER NOT NULL,
  claim_id TEXT,
  -- How many attempts are logged.
  attempts INTEGER NOT NULL DEFAULT 0,
  -- When the status became final.
  ended_at INTEGER,
  -- The attempt that made it final, its number being `attempts`. In the row itself: most deliveries have no other one.
  final_at INTEGER,
  final_duration_ms INTEGER,
  final_http_status INTEGER,
  final_error TEXT,
  final_response TEXT
) STRICT;

-- What workers walk along. Final deliveries are not in it.
CREATE INDEX deliveries_pending ON deliveries (endpoint_id, ready_at) WHERE status = 'pending';
-- Indexes of all deliveries have no status: a delivery that becomes final, as nearly every one does, leaves them
-- as they are. Those with another end than the usual one are few.
CREATE INDEX deliveries_undelivered ON deliveries (partner, mode, status, created_at, id)
  WHERE status IN ('dropped', 'cancelled');
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
