-- Scopes of an access token that has fewer of them than its grant.
ALTER TABLE access_tokens ADD COLUMN scopes text[] COLLATE "C";

-- Refresh tokens, the replaced ones too: one that is presented again ends its grant. Of a grant there is one at most that
-- was not replaced. `successor` is the token that a replaced one may be presented once more for.
CREATE TABLE refresh_tokens (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  grant_id bigint NOT NULL REFERENCES grants (id),
  expires_at bigint NOT NULL,
  replaced_at bigint,
  successor bytea
);

CREATE UNIQUE INDEX refresh_tokens_live ON refresh_tokens (grant_id) WHERE replaced_at IS NULL;
CREATE INDEX refresh_tokens_by_grant ON refresh_tokens (grant_id);
CREATE INDEX refresh_tokens_by_end ON refresh_tokens (expires_at);

-- Replaces a refresh token and stores an access token. See GrantStore.refresh for the answers.
CREATE FUNCTION refresh_grant(
  presented bytea, new_digest bytea, new_ends_at bigint,
  token_digest bytea, token_scopes text[], token_issued_at bigint, token_ends_at bigint,
  grace_ms bigint, now_ms bigint, lock_patience text
) RETURNS text
LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_nestloop = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  own refresh_tokens;
  held grants;
BEGIN
  PERFORM set_config('lock_timeout', lock_patience, true);

  -- The grant first: whoever else presents a token of it, or ends it, comes before or after. What depends on it comes in
  -- statements of their own, which see what those did that held it before.
  SELECT grants.* INTO held FROM grants
  WHERE id = (SELECT grant_id FROM refresh_tokens WHERE digest = presented) FOR UPDATE;
  IF NOT FOUND THEN
    RETURN 'refused';
  END IF;
  SELECT refresh_tokens.* INTO own FROM refresh_tokens WHERE digest = presented;

  IF own.replaced_at IS NOT NULL AND (
    now_ms - own.replaced_at > grace_ms
    OR (SELECT digest FROM refresh_tokens WHERE digest = own.successor AND replaced_at IS NULL) IS NULL
  ) THEN
    UPDATE grants SET revoked_at = coalesce(revoked_at, now_ms) WHERE id = held.id;
    RETURN 'replayed';
  END IF;

  -- Whoever disables a client or its partner revokes its grants.
  IF held.revoked_at IS NOT NULL OR own.expires_at <= now_ms THEN
    RETURN 'refused';
  END IF;

  UPDATE refresh_tokens SET replaced_at = now_ms WHERE digest = own.successor;
  UPDATE refresh_tokens SET
    replaced_at = coalesce(own.replaced_at, now_ms),
    successor = CASE WHEN own.replaced_at IS NULL THEN new_digest END
  WHERE digest = presented;
  INSERT INTO refresh_tokens (digest, grant_id, expires_at) VALUES (new_digest, held.id, new_ends_at);
  INSERT INTO access_tokens (digest, grant_id, issued_at, expires_at, scopes)
  VALUES (token_digest, held.id, token_issued_at, token_ends_at, token_scopes);
  UPDATE grants SET ends_at = greatest(ends_at, new_ends_at, token_ends_at) WHERE id = held.id;
  RETURN 'refreshed';
END
$$;
