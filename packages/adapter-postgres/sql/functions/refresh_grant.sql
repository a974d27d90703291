-- Replaces a refresh token and stores an access token. See GrantStore.refresh for the outcomes.
--
-- Times of the grant may be in the future, because the clock went back. A token whose replacement is further in the future than
-- the grace period counts as replayed, and the access token that is being stored is kept whatever times the others have.
--
-- new_digest:        digest of the successor to store at the first use; that of the presented token keeps it valid
-- other_digests:     digests of successors that another process may have stored
-- max_access_tokens: number of access tokens of the grant that are kept, the newest ones
-- lock_timeout:      longest wait for other uses of the grant, as a value of the setting with this name
CREATE OR REPLACE FUNCTION refresh_grant(
  presented bytea, presented_family bytea, new_digest bytea, new_ends_at bigint, other_digests bytea[],
  token_digest bytea, token_scopes text[], token_resources text[], token_dpop_jkt text,
  token_issued_at bigint, token_ends_at bigint,
  grace_ms bigint, max_access_tokens bigint, now_ms bigint, lock_timeout text,
  OUT outcome text, OUT stored_successor bytea
)
LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_nestloop = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  own refresh_tokens;
  is_stored boolean;
  held grants;
BEGIN
  PERFORM set_config('lock_timeout', lock_timeout, true);

  -- Lock the grant first, so that other uses of its tokens, and its revocation, come before or after. The statements below see
  -- what was committed before the lock was granted.
  SELECT grants.* INTO held FROM grants
  WHERE id = (SELECT grant_id FROM refresh_tokens WHERE family = presented_family LIMIT 1) FOR UPDATE;
  IF NOT FOUND THEN
    outcome := 'refused';
    RETURN;
  END IF;
  SELECT refresh_tokens.* INTO own FROM refresh_tokens WHERE digest = presented;
  is_stored := FOUND;

  IF NOT is_stored OR own.replaced_at IS NOT NULL AND (
    abs(now_ms - own.replaced_at) > grace_ms
    OR (SELECT digest FROM refresh_tokens WHERE digest = own.successor AND replaced_at IS NULL) IS NULL
  ) THEN
    UPDATE grants SET revoked_at = coalesce(revoked_at, now_ms) WHERE id = held.id;
    outcome := 'replayed';
    RETURN;
  END IF;

  -- Disabling a client or its partner revokes its grants, so checking the grant is enough.
  IF held.revoked_at IS NOT NULL OR own.expires_at <= now_ms THEN
    outcome := 'refused';
    RETURN;
  END IF;

  IF own.replaced_at IS NULL THEN
    IF new_digest = presented THEN
      UPDATE refresh_tokens SET expires_at = new_ends_at WHERE digest = presented;
    ELSE
      -- Remove the token that the presented one replaced: from now on it is recognized by its family.
      DELETE FROM refresh_tokens WHERE family = presented_family AND replaced_at IS NOT NULL;
      UPDATE refresh_tokens SET replaced_at = now_ms, successor = new_digest WHERE digest = presented;
      INSERT INTO refresh_tokens (digest, grant_id, expires_at, family)
      VALUES (new_digest, held.id, new_ends_at, presented_family);
    END IF;
    UPDATE grants SET ends_at = greatest(ends_at, new_ends_at) WHERE id = held.id;
    stored_successor := new_digest;
  ELSIF own.successor = ANY (new_digest || other_digests) THEN
    stored_successor := own.successor;
  ELSE
    outcome := 'unknown_successor';
    RETURN;
  END IF;

  INSERT INTO access_tokens (digest, grant_id, issued_at, expires_at, scopes, resources, dpop_jkt)
  VALUES (token_digest, held.id, token_issued_at, token_ends_at, token_scopes, token_resources, token_dpop_jkt);
  DELETE FROM access_tokens WHERE digest = ANY (ARRAY (
    SELECT digest FROM access_tokens WHERE grant_id = held.id
    ORDER BY digest = token_digest DESC, issued_at DESC, digest OFFSET max_access_tokens
  ));
  UPDATE grants SET ends_at = token_ends_at WHERE id = held.id AND ends_at < token_ends_at;
  outcome := 'refreshed';
END
$$;
