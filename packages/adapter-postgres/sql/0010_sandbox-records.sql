-- Sessions of the console, identity checks of sandbox users and marks of first runs: until now they were rows among the authorization
-- requests, and counted as such. The JSON of a request begins otherwise.
CREATE TABLE sandbox_records (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  payload text NOT NULL,
  expires_at bigint NOT NULL
);

CREATE INDEX sandbox_records_by_end ON sandbox_records (expires_at);

INSERT INTO sandbox_records (digest, payload, expires_at)
SELECT digest, payload, expires_at FROM interactions
WHERE payload LIKE '{"keyId":%' OR payload LIKE '{"kycStatus":%' OR payload IN ('{"all":true}', '{"signature":true}');

DELETE FROM interactions WHERE digest IN (SELECT digest FROM sandbox_records);
