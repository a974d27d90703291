-- What a claim needs to know of an endpoint, in one row that nobody who publishes writes: a claim walks along these rows,
-- and reads of each endpoint only what is to be claimed. Deliveries that were published come in the order of their numbers,
-- which is that of the commits, after the last one that was claimed; those that were claimed before come by the time at which
-- they are ready. So nothing that was delivered and removed is ever passed, however long PostgreSQL has to keep it.
CREATE TABLE endpoint_queues (
  -- The endpoint's: made and removed with it.
  endpoint_id text COLLATE "C" PRIMARY KEY,
  partner text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
  -- The number of the last delivery that was claimed for the first time.
  claimed_to bigint NOT NULL DEFAULT 0,
  -- Of those that were claimed before none is ready earlier.
  next_due bigint,
  -- When something of it was claimed last: who has waited longest is next.
  served_at bigint NOT NULL DEFAULT 0,
  -- Grows with every change.
  revision bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE INDEX endpoint_queues_by_owner ON endpoint_queues (partner, mode);
CREATE INDEX endpoint_queues_due ON endpoint_queues (next_due) WHERE next_due IS NOT NULL;

-- From when on a delivery can be claimed again: the end of its lease, or the time of its next attempt. NULL: it has never
-- been claimed, and is found by its number.
ALTER TABLE pending_deliveries ADD COLUMN ready_at bigint;
UPDATE pending_deliveries SET ready_at = greatest(due_at, held_until);
DROP INDEX pending_deliveries_by_endpoint;
DROP INDEX pending_deliveries_due;
ALTER TABLE pending_deliveries DROP COLUMN held_until;
CREATE INDEX pending_deliveries_published ON pending_deliveries (endpoint_id, number);
CREATE INDEX pending_deliveries_ready ON pending_deliveries (endpoint_id, ready_at, number) WHERE ready_at IS NOT NULL;

INSERT INTO endpoint_queues (endpoint_id, partner, mode, claimed_to, next_due)
SELECT endpoint.id, partner, mode, coalesce(max(number), 0), min(ready_at)
FROM webhook_endpoints AS endpoint LEFT JOIN pending_deliveries ON endpoint_id = endpoint.id
GROUP BY endpoint.id;

-- Whoever publishes counts the news of a partner and mode; a claim that has found nothing left says how far it has seen.
ALTER TABLE event_sequences
  ADD COLUMN news bigint NOT NULL DEFAULT 1,
  ADD COLUMN seen bigint NOT NULL DEFAULT 0,
  -- A column of its own, so that no index has those that change all the time (HOT).
  ADD COLUMN has_news boolean NOT NULL GENERATED ALWAYS AS (news > seen) STORED;

CREATE INDEX event_sequences_news ON event_sequences (partner, mode) WHERE has_news;
