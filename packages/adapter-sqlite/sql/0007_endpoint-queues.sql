-- What a claim needs to know of an endpoint, in one row: a claim walks along these rows, and reads of each endpoint only
-- what is to be claimed.
CREATE TABLE endpoint_queues (
  -- The endpoint's: made and removed with it.
  endpoint_id TEXT PRIMARY KEY NOT NULL,
  -- When the first of its pending deliveries can be claimed, or earlier. NULL: there is none.
  next_due INTEGER,
  -- When something of it was claimed last: who has waited longest is next.
  served_at INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX endpoint_queues_due ON endpoint_queues (next_due) WHERE next_due IS NOT NULL;

INSERT INTO endpoint_queues (endpoint_id, next_due)
SELECT id, (SELECT min(ready_at) FROM deliveries WHERE status = 'pending' AND endpoint_id = webhook_endpoints.id)
FROM webhook_endpoints;
