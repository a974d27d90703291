-- Scopes of an access token that has fewer of them than its grant.
ALTER TABLE access_tokens ADD COLUMN scopes TEXT;

-- Refresh tokens, the replaced ones too: one that is presented again ends its grant. Of a grant there is one at most that
-- was not replaced. `successor` is the token that a replaced one may be presented once more for.
CREATE TABLE refresh_tokens (
  digest BLOB PRIMARY KEY NOT NULL CHECK (length(digest) = 32),
  grant_id INTEGER NOT NULL REFERENCES grants (id),
  expires_at INTEGER NOT NULL,
  replaced_at INTEGER,
  successor BLOB
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX refresh_tokens_live ON refresh_tokens (grant_id) WHERE replaced_at IS NULL;
CREATE INDEX refresh_tokens_by_grant ON refresh_tokens (grant_id);
CREATE INDEX refresh_tokens_by_end ON refresh_tokens (expires_at);
