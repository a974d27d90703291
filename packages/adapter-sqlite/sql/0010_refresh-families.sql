-- SHA-256 of the part that all refresh tokens of a grant share. A replaced token whose row is gone is recognized by it, so that a
-- grant keeps two rows: the live token and the one that it replaced. NULL for tokens of earlier versions.
ALTER TABLE refresh_tokens ADD COLUMN family BLOB;

CREATE INDEX refresh_tokens_by_family ON refresh_tokens (family) WHERE family IS NOT NULL;
