-- Whether the partner that owns a client is disabled: repeats what the partner's row says, so that whoever looks at a
-- client needs no second look. Written by whatever changes the one or the other.
ALTER TABLE clients ADD COLUMN partner_disabled INTEGER NOT NULL DEFAULT 0 CHECK (partner_disabled IN (0, 1));

UPDATE clients SET partner_disabled = 1
WHERE partner IN (SELECT slug FROM partners WHERE disabled_at IS NOT NULL);

-- Partners that were disabled before end as those do that are disabled from now on.
UPDATE grants SET revoked_at = (
  SELECT partners.disabled_at FROM clients JOIN partners ON slug = partner WHERE clients.client_id = grants.client_id
)
WHERE revoked_at IS NULL AND client_id IN (SELECT client_id FROM clients WHERE partner_disabled = 1);

UPDATE deliveries SET status = 'cancelled', ended_at = due_at
WHERE status = 'pending' AND partner IN (SELECT slug FROM partners WHERE disabled_at IS NOT NULL);

-- The chain of the audit log: 1, 2, 3, … in the order of the commits, and SHA-256 over the value before (32 zero bytes at
-- first) and the digest of the act. Acts that are there already stay outside.
ALTER TABLE audit ADD COLUMN number INTEGER;
ALTER TABLE audit ADD COLUMN chain BLOB CHECK (length(chain) = 32);

CREATE UNIQUE INDEX audit_by_number ON audit (number) WHERE number IS NOT NULL;
CREATE INDEX audit_outside ON audit (id) WHERE number IS NULL;

-- The end of the chain, in one row that the first act makes, and how many acts had been there before.
CREATE TABLE audit_head (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  number INTEGER NOT NULL,
  chain BLOB NOT NULL CHECK (length(chain) = 32),
  before INTEGER NOT NULL
) STRICT;
