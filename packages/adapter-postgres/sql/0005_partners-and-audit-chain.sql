-- Whether the partner that owns a client is disabled: repeats what the partner's row says, so that whoever looks at a
-- client needs no second look, and whoever issues a grant holds one row that a partner which is disabled writes to.
ALTER TABLE clients ADD COLUMN partner_disabled boolean NOT NULL DEFAULT false;

UPDATE clients SET partner_disabled = true
FROM partners WHERE slug = partner AND partners.disabled_at IS NOT NULL;

-- Partners that were disabled before end as those do that are disabled from now on.
UPDATE grants SET revoked_at = partners.disabled_at
FROM clients JOIN partners ON slug = partner
WHERE grants.client_id = clients.client_id AND partner_disabled AND revoked_at IS NULL;

WITH gone AS (
  DELETE FROM pending_deliveries AS pending USING webhook_endpoints, partners
  WHERE pending.endpoint_id = webhook_endpoints.id AND slug = partner AND disabled_at IS NOT NULL
  RETURNING pending.number, pending.due_at
)
UPDATE deliveries SET status = 'cancelled', ended_at = due_at FROM gone WHERE deliveries.number = gone.number;

-- The chain of the audit log: 1, 2, 3, … in the order of the commits, and SHA-256 over the value before (32 zero bytes at
-- first) and the digest of the act. Acts that are there already stay outside.
ALTER TABLE audit
  ADD COLUMN number bigint,
  ADD COLUMN chain bytea CHECK (octet_length(chain) = 32);

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
