import type { AccessTokenState, GrantRecord, GrantState, GrantStore } from '@ostiary/core/storage';
import { batchCalls } from './batching.ts';
import type { Database } from './database.ts';
import { isDataError, isLockTimeout } from './errors.ts';
import { lookup, prepared, statement } from './statement.ts';
import { lockTimeoutOf, timeoutLeft } from './timeouts.ts';

/** A grant in its stored form: the details of its ID tokens are JSON text. */
export type Stored<Grant> = Omit<Grant, 'idTokenDetails'> & { readonly idTokenDetails: string | null };

export function grantOf(row: Stored<GrantState> | null): GrantState | null {
  if (row === null) return null;
  return { ...row, idTokenDetails: row.idTokenDetails === null ? null : JSON.parse(row.idTokenDetails) };
}

type Redemption = Parameters<GrantStore['redeem']>[0];

/** A batch of code exchanges, one array per column. */
interface Redemptions {
  readonly codes: readonly Uint8Array[];
  readonly tokens: readonly Uint8Array[];
  readonly nows: readonly number[];
  readonly issued: readonly number[];
  readonly ends: readonly number[];
  /**
   * Scopes of each access token in the batch as a PostgreSQL array literal, because an array of arrays would
   * need arrays of equal length. `null` if the token has all of the grant's scopes.
   */
  readonly tokenScopes: readonly (string | null)[];
  readonly tokenResources: readonly (string | null)[];
  /**
   * Thumbprints of the keys to which the access tokens of the batch are bound; `null` for a token that is not
   * bound.
   */
  readonly tokenKeys: readonly (string | null)[];
  /** Digests of the refresh tokens of the batch; `null` for a code exchange without one. */
  readonly refreshTokens: readonly (Uint8Array | null)[];
  readonly refreshFamilies: readonly (Uint8Array | null)[];
  readonly refreshEnds: readonly number[];
  readonly maxFailedVerifiers: number;
  readonly lockTimeout: string;
}

/**
 * Minimum time between two updates of a consent's `usedAt`, in milliseconds, so that most sign-ins do not
 * write it.
 */
const usedAtStepMs = 3_600_000;

type CodeAt = { readonly codeDigest: Uint8Array; readonly now: number };

const copyOf = <Token extends { readonly digest: Uint8Array }>(token: Token): Token => ({
  ...token,
  digest: Buffer.from(token.digest),
});

export const copyOfList = (list: readonly string[] | null): readonly string[] | null => list && [...list];

function rowOf({
  codeDigest,
  scopes,
  resources,
  idTokenDetails,
  ...grant
}: GrantRecord): Stored<GrantRecord> {
  return {
    ...grant,
    codeDigest: Buffer.from(codeDigest),
    scopes: [...scopes],
    resources: copyOfList(resources),
    idTokenDetails: idTokenDetails && JSON.stringify(idTokenDetails),
  };
}

/** Formats a list as a PostgreSQL array literal; `null` stays `null`. */
function arrayLiteral(list: readonly string[] | null): string | null {
  if (list === null) return null;
  const quoted = list.map((value) => `"${value.replaceAll(/["\\]/g, '\\$&')}"`);
  return `{${quoted.join(',')}}`;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/**
 * Builds a statement that revokes grants. It locks them in the order of their ids, as all statements do, to
 * avoid deadlocks.
 */
export const revokeGrantsWhere = (schema: string, condition: string) => `
  UPDATE ${schema}.grants SET revoked_at = :now
  WHERE id IN (
    SELECT id FROM ${schema}.grants WHERE ${condition} AND revoked_at IS NULL ORDER BY id FOR UPDATE
  )
`;

/** List of the SQL columns that are read for a grant. */
export const grantColumns = `
  code_digest AS "codeDigest", grants.client_id AS "clientId", sub, scopes, resources, redirect_uri AS "redirectUri",
  code_challenge AS "codeChallenge", nonce, authenticated_at AS "authenticatedAt", sid,
  id_token_details AS "idTokenDetails", issued_at AS "issuedAt", grants.expires_at AS "expiresAt", consumed_at AS "consumedAt",
  revoked_at AS "revokedAt", failed_verifiers AS "failedVerifiers", dpop_jkt AS "dpopJkt"
`;

function statementsIn(schema: string) {
  return {
    // Locks the client and the consent until the commit. A call that disables the client or its partner, or
    // revokes the consent, either comes first or finds this grant. The consent is locked exclusively, because
    // it may be written.
    issue: prepared<Stored<GrantRecord>>(`
      WITH held AS MATERIALIZED (
        SELECT consents.id, client_id, sub, used_at FROM ${schema}.clients JOIN ${schema}.consents USING (client_id)
        WHERE client_id = :clientId AND disabled_at IS NULL AND NOT partner_disabled
          AND sub = :sub AND revoked_at IS NULL
          AND (:scopes::text[] || :resources::text[]) <@ consents.scopes
        FOR SHARE OF clients FOR NO KEY UPDATE OF consents
      ), used AS (
        UPDATE ${schema}.consents SET used_at = :issuedAt
        FROM held
        WHERE consents.id = held.id AND consents.id = ANY (ARRAY (SELECT id FROM held))
          AND (held.used_at IS NULL OR held.used_at <= :issuedAt::bigint - ${usedAtStepMs})
      )
      INSERT INTO ${schema}.grants (
        code_digest, client_id, sub, scopes, redirect_uri, code_challenge, nonce,
        authenticated_at, sid, id_token_details, issued_at, expires_at, ends_at, resources, dpop_jkt
      )
      SELECT
        :codeDigest, client_id, sub, :scopes::text[], :redirectUri, :codeChallenge, :nonce,
        :authenticatedAt, :sid, :idTokenDetails, :issuedAt, :expiresAt, :expiresAt, :resources::text[],
        :dpopJkt
      FROM held
    `),

    find: lookup<{ codeDigest: Uint8Array }, Stored<GrantState>>(
      { codeDigest: 'bytea' },
      `SELECT ${grantColumns} FROM ${schema}.grants WHERE code_digest = :codeDigest`,
    ),

    // The first of parallel calls locks the row. The others wait, and then find it consumed. Rows are locked
    // in the order of their ids, as everywhere. Returns the tokens of the calls that won.
    redeem: prepared<Redemptions, { readonly digest: Uint8Array }>(`
      WITH held AS MATERIALIZED (
        SELECT id FROM ${schema}.grants
        WHERE code_digest = ANY (:codes) AND set_config('lock_timeout', :lockTimeout, true) IS NOT NULL
        ORDER BY id FOR UPDATE
      ), consumed AS (
        UPDATE ${schema}.grants SET
          consumed_at = now, ends_at = greatest(ends_at, token_ends_at, refresh_ends_at),
          dpop_jkt = coalesce(dpop_jkt, token_key)
        FROM held, unnest(
          :codes::bytea[], :tokens::bytea[], :nows::bigint[], :issued::bigint[], :ends::bigint[],
          :refreshTokens::bytea[], :refreshFamilies::bytea[], :refreshEnds::bigint[],
          :tokenScopes::text[], :tokenResources::text[], :tokenKeys::text[]
        ) AS asked (
          code, token, now, token_issued_at, token_ends_at, refresh_token, refresh_family, refresh_ends_at,
          token_scopes, token_resources, token_key
        )
        WHERE grants.id = held.id AND code_digest = code
          AND consumed_at IS NULL AND revoked_at IS NULL AND expires_at > now
          AND failed_verifiers < :maxFailedVerifiers
          AND EXISTS (
            SELECT 1 FROM ${schema}.clients
            WHERE clients.client_id = grants.client_id AND disabled_at IS NULL AND NOT partner_disabled
          )
        RETURNING
          grants.id, token, token_issued_at, token_ends_at, refresh_token, refresh_family, refresh_ends_at,
          token_scopes, token_resources, token_key
      ), refreshing AS (
        INSERT INTO ${schema}.refresh_tokens (digest, grant_id, expires_at, family)
        SELECT refresh_token, id, refresh_ends_at, refresh_family FROM consumed WHERE refresh_token IS NOT NULL
      )
      INSERT INTO ${schema}.access_tokens (digest, grant_id, issued_at, expires_at, scopes, resources, dpop_jkt)
      SELECT
        token, id, token_issued_at, token_ends_at,
        token_scopes::text[], token_resources::text[], token_key
      FROM consumed
      RETURNING digest
    `),

    // A code that is presented again revokes what was issued for it (RFC 6749, section 4.1.2).
    revokeConsumed: prepared<CodeAt>(`
      UPDATE ${schema}.grants SET revoked_at = coalesce(revoked_at, :now)
      WHERE code_digest = :codeDigest AND consumed_at IS NOT NULL
    `),

    recordFailedVerifier: statement<{ codeDigest: Uint8Array }>(`
      UPDATE ${schema}.grants SET failed_verifiers = failed_verifiers + 1 WHERE code_digest = :codeDigest
    `),

    revoke: statement<CodeAt>(`
      UPDATE ${schema}.grants SET revoked_at = :now WHERE code_digest = :codeDigest AND revoked_at IS NULL
    `),

    // Runs on every use of a token: two look-ups by primary key.
    findToken: lookup<{ digest: Uint8Array }, AccessTokenState>(
      { digest: 'bytea' },
      `
      SELECT
        grants.client_id AS "clientId", grants.sub AS sub,
        coalesce(access_tokens.scopes, grants.scopes) AS scopes,
        coalesce(access_tokens.resources, grants.resources) AS resources, access_tokens.expires_at AS "expiresAt",
        access_tokens.dpop_jkt AS "dpopJkt",
        access_tokens.revoked_at IS NOT NULL OR grants.revoked_at IS NOT NULL AS revoked,
        grants.authenticated_at AS "authenticatedAt", grants.id_token_details::jsonb ->> 'acr' AS acr
      FROM ${schema}.access_tokens JOIN ${schema}.grants ON grants.id = access_tokens.grant_id
      WHERE access_tokens.digest = :digest
    `,
    ),

    revokeToken: prepared<{ digest: Uint8Array; now: number }, { clientId: string }>(`
      UPDATE ${schema}.access_tokens SET revoked_at = coalesce(access_tokens.revoked_at, :now)
      FROM ${schema}.grants
      WHERE digest = :digest AND grants.id = access_tokens.grant_id
      RETURNING client_id AS "clientId"
    `),
  };
}

/** Creates the store of grants, except for the exchange of refresh tokens; see `refresh-tokens.ts`. */
export function postgresGrants(database: Database): Omit<GrantStore, 'findRefreshToken' | 'refresh'> {
  const sql = statementsIn(database.schema);

  // Contains only the redemptions, so that a successful one cannot fail because of what another call does
  // next.
  const wins = batchCalls({
    keyOf: ({ maxFailedVerifiers }: Redemption) => String(maxFailedVerifiers),
    mayRetryAlone: (error) => isDataError(error) || isLockTimeout(error),
    async make(group: readonly Redemption[], waitedMs, isShared): Promise<boolean[]> {
      const redemptions = {
        codes: group.map(({ codeDigest }) => codeDigest),
        tokens: group.map(({ token }) => token.digest),
        nows: group.map(({ now }) => now),
        issued: group.map(({ token }) => token.issuedAt),
        ends: group.map(({ token }) => token.expiresAt),
        tokenScopes: group.map(({ token }) => arrayLiteral(token.scopes)),
        tokenResources: group.map(({ token }) => arrayLiteral(token.resources)),
        tokenKeys: group.map(({ token }) => token.dpopJkt),
        refreshTokens: group.map(({ refreshToken }) => refreshToken?.digest ?? null),
        refreshFamilies: group.map(({ refreshToken }) => refreshToken?.family ?? null),
        refreshEnds: group.map(({ refreshToken }) => refreshToken?.expiresAt ?? 0),
        maxFailedVerifiers: group[0]?.maxFailedVerifiers ?? 0,
        lockTimeout: lockTimeoutOf(isShared),
      };
      const stored = await database.change(
        (connection) => sql.redeem.all(connection, redemptions),
        timeoutLeft(waitedMs),
      );
      const redeemed = new Set(stored.map(({ digest }) => hex(digest)));
      return group.map(({ token }) => redeemed.has(hex(token.digest)));
    },
  });

  return {
    issue: (grant) => database.changes(sql.issue, rowOf(grant)),

    find: async (codeDigest) =>
      grantOf(await database.get(sql.find, { codeDigest: Buffer.from(codeDigest) })),

    async redeem({ codeDigest, token, refreshToken, ...redemption }) {
      const code = { codeDigest: Buffer.from(codeDigest), now: redemption.now };
      const own = {
        token: copyOf(token),
        refreshToken: refreshToken && {
          ...copyOf(refreshToken),
          family: Buffer.from(refreshToken.family),
        },
      };
      if (await wins({ ...redemption, ...code, ...own })) return 'redeemed';
      // A separate statement, which sees which call was first.
      return (await database.changes(sql.revokeConsumed, code)) ? 'replayed' : 'refused';
    },

    async recordFailedVerifier(codeDigest) {
      await database.changes(sql.recordFailedVerifier, { codeDigest: Buffer.from(codeDigest) });
    },

    async revoke(codeDigest, now) {
      await database.changes(sql.revoke, { codeDigest: Buffer.from(codeDigest), now });
    },

    findToken: (tokenDigest) => database.get(sql.findToken, { digest: Buffer.from(tokenDigest) }),

    async revokeToken(tokenDigest, now) {
      const token = { digest: Buffer.from(tokenDigest), now };
      return database.change(async (connection) => (await sql.revokeToken.get(connection, token)) ?? null);
    },
  };
}
