import type {
  AccessTokenState,
  GrantRecord,
  GrantState,
  GrantStore,
  NewAccessToken,
  RefreshTokenDigests,
} from '@ostiary/core/storage';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';

/** A record in its stored form: lists are JSON text. */
type Row<Record> = Omit<Record, 'scopes' | 'resources'> & {
  readonly scopes: string;
  readonly resources: string | null;
};
export type GrantRow<Grant> = Row<Omit<Grant, 'idTokenDetails'>> & { readonly idTokenDetails: string | null };
type TokenRow = Row<Omit<AccessTokenState, 'revoked'>> & { readonly revoked: 0 | 1 };
type NewTokenRow = Omit<NewAccessToken, 'scopes' | 'resources'> & {
  readonly scopes: string | null;
  readonly resources: string | null;
};

/** List of the SQL columns that are read for a grant. */
export const grantColumns = `
  code_digest AS codeDigest, client_id AS clientId, sub, scopes, resources, redirect_uri AS redirectUri,
  code_challenge AS codeChallenge, nonce, authenticated_at AS authenticatedAt, sid,
  id_token_details AS idTokenDetails, issued_at AS issuedAt,
  grants.expires_at AS expiresAt, consumed_at AS consumedAt, revoked_at AS revokedAt,
  failed_verifiers AS failedVerifiers, dpop_jkt AS dpopJkt
`;

/**
 * Minimum time between two updates of a consent's `usedAt`, in milliseconds, so that most sign-ins do not
 * write it.
 */
const usedAtStepMs = 3_600_000;

/** Creates the statements that store an access token and a refresh token. */
export function tokenInserts(connection: Connection) {
  return {
    insertToken: connection.prepare<[NewTokenRow & { readonly grantId: number }]>(`
      INSERT INTO access_tokens (digest, grant_id, issued_at, expires_at, scopes, resources, dpop_jkt)
      VALUES (:digest, :grantId, :issuedAt, :expiresAt, :scopes, :resources, :dpopJkt)
    `),

    insertRefreshToken: connection.prepare<
      [{ digest: Uint8Array; family: Uint8Array; grantId: number; expiresAt: number }]
    >(`
      INSERT INTO refresh_tokens (digest, grant_id, expires_at, family)
      VALUES (:digest, :grantId, :expiresAt, :family)
    `),
  };
}

function statementsOn(connection: Connection) {
  return {
    ...tokenInserts(connection),

    issue: connection.prepare<[GrantRow<GrantRecord>]>(`
      INSERT INTO grants (
        code_digest, client_id, sub, scopes, redirect_uri, code_challenge, nonce,
        authenticated_at, sid, id_token_details, issued_at, expires_at, ends_at, resources, dpop_jkt
      )
      SELECT
        :codeDigest, client_id, :sub, :scopes, :redirectUri, :codeChallenge, :nonce,
        :authenticatedAt, :sid, :idTokenDetails, :issuedAt, :expiresAt, :expiresAt, :resources, :dpopJkt
      FROM clients JOIN consents USING (client_id)
      WHERE client_id = +:clientId AND disabled_at IS NULL AND partner_disabled = 0 AND sub = +:sub
        AND revoked_at IS NULL
        AND NOT EXISTS (
          SELECT value FROM json_each(+:scopes) UNION ALL SELECT value FROM json_each(+:resources)
          EXCEPT SELECT value FROM json_each(consents.scopes)
        )
    `),

    use: connection.prepare<[{ sub: string; clientId: string; issuedAt: number }]>(`
      UPDATE consents SET used_at = :issuedAt
      WHERE sub = :sub AND client_id = :clientId AND revoked_at IS NULL
        AND (used_at IS NULL OR used_at <= :issuedAt - ${usedAtStepMs})
    `),

    find: connection.prepare<[Uint8Array], GrantRow<GrantState>>(
      `SELECT ${grantColumns} FROM grants WHERE code_digest = ?`,
    ),

    consume: connection.prepare<
      [
        {
          codeDigest: Uint8Array;
          maxFailedVerifiers: number;
          now: number;
          endsAt: number;
          dpopJkt: string | null;
        },
      ],
      { id: number }
    >(`
      UPDATE grants SET consumed_at = :now, ends_at = max(ends_at, :endsAt), dpop_jkt = coalesce(dpop_jkt, :dpopJkt)
      WHERE code_digest = :codeDigest
        AND consumed_at IS NULL AND revoked_at IS NULL AND expires_at > :now
        AND failed_verifiers < :maxFailedVerifiers
        AND EXISTS (
          SELECT 1 FROM clients
          WHERE clients.client_id = grants.client_id AND disabled_at IS NULL AND partner_disabled = 0
        )
      RETURNING id
    `),

    revokeConsumed: connection.prepare<[{ codeDigest: Uint8Array; now: number }]>(`
      UPDATE grants SET revoked_at = coalesce(revoked_at, :now)
      WHERE code_digest = :codeDigest AND consumed_at IS NOT NULL
    `),

    recordFailedVerifier: connection.prepare<[Uint8Array]>(`
      UPDATE grants SET failed_verifiers = failed_verifiers + 1 WHERE code_digest = ?
    `),

    revoke: connection.prepare<[{ codeDigest: Uint8Array; now: number }]>(`
      UPDATE grants SET revoked_at = :now WHERE code_digest = :codeDigest AND revoked_at IS NULL
    `),

    // Runs on every use of a token: two look-ups by primary key. Without the plus signs, SQLite as the driver
    // builds it (STAT4) plans a join, a range or a subquery again for every bound value, which costs up to
    // ten times the look-up.
    findToken: connection.prepare<[Uint8Array], TokenRow>(`
      SELECT
        grants.client_id AS clientId, grants.sub AS sub,
        coalesce(access_tokens.scopes, grants.scopes) AS scopes,
        coalesce(access_tokens.resources, grants.resources) AS resources, access_tokens.expires_at AS expiresAt,
        access_tokens.dpop_jkt AS dpopJkt,
        access_tokens.revoked_at IS NOT NULL OR grants.revoked_at IS NOT NULL AS revoked,
        grants.authenticated_at AS authenticatedAt, grants.id_token_details ->> 'acr' AS acr
      FROM access_tokens JOIN grants ON grants.id = access_tokens.grant_id
      WHERE access_tokens.digest = +?
    `),

    revokeToken: connection.prepare<[{ digest: Uint8Array; now: number }], { clientId: string }>(`
      UPDATE access_tokens SET revoked_at = coalesce(revoked_at, :now) WHERE digest = :digest
      RETURNING (SELECT client_id FROM grants WHERE grants.id = access_tokens.grant_id) AS clientId
    `),
  };
}

/** Creates the store of grants, except for the exchange of refresh tokens; see `refresh-tokens.ts`. */
export function sqliteGrants(database: Database): Omit<GrantStore, 'findRefreshToken' | 'refresh'> {
  const sql = database.prepare(statementsOn);

  return {
    async issue(grant) {
      const row = rowOf(grant);
      const { sub, clientId, issuedAt } = grant;
      return database.write(() => {
        if (sql().issue.run(row).changes === 0) return false;
        sql().use.run({ sub, clientId, issuedAt });
        return true;
      });
    },

    find: (codeDigest) => database.find(() => sql().find.get(codeDigest), grantOf),

    async redeem({ maxFailedVerifiers, now, ...redemption }) {
      const codeDigest = Buffer.from(redemption.codeDigest);
      const token = newTokenRow(redemption.token);
      const refreshToken = redemption.refreshToken && copyOf(redemption.refreshToken);
      const endsAt = Math.max(token.expiresAt, refreshToken?.expiresAt ?? 0);
      return database.write(() => {
        const { dpopJkt } = token;
        const consumed = sql().consume.get({ codeDigest, maxFailedVerifiers, now, endsAt, dpopJkt });
        if (consumed === undefined)
          return sql().revokeConsumed.run({ codeDigest, now }).changes === 1 ? 'replayed' : 'refused';
        const grantId = consumed.id;
        sql().insertToken.run({ ...token, grantId });
        if (refreshToken !== null) sql().insertRefreshToken.run({ ...refreshToken, grantId });
        return 'redeemed';
      });
    },

    async recordFailedVerifier(codeDigest) {
      const digest = Buffer.from(codeDigest);
      await database.write(() => sql().recordFailedVerifier.run(digest));
    },

    async revoke(codeDigest, now) {
      const digest = Buffer.from(codeDigest);
      await database.write(() => sql().revoke.run({ codeDigest: digest, now }));
    },

    findToken: (tokenDigest) =>
      database.find(
        () => sql().findToken.get(tokenDigest),
        (row) => ({ ...row, ...listsOf(row), revoked: row.revoked === 1 }),
      ),

    async revokeToken(tokenDigest, now) {
      const digest = Buffer.from(tokenDigest);
      return database.write(() => sql().revokeToken.get({ digest, now }) ?? null);
    },
  };
}

function rowOf({
  codeDigest,
  scopes,
  resources,
  idTokenDetails,
  ...grant
}: GrantRecord): GrantRow<GrantRecord> {
  return {
    ...grant,
    codeDigest: Buffer.from(codeDigest),
    scopes: JSON.stringify(scopes),
    resources: jsonOf(resources),
    idTokenDetails: jsonOf(idTokenDetails),
  };
}

export function grantOf(row: GrantRow<GrantState>): GrantState {
  const idTokenDetails = row.idTokenDetails === null ? null : JSON.parse(row.idTokenDetails);
  return { ...row, ...listsOf(row), idTokenDetails };
}

const listsOf = ({ scopes, resources }: { readonly scopes: string; readonly resources: string | null }) => ({
  scopes: JSON.parse(scopes),
  resources: resources === null ? null : JSON.parse(resources),
});

const jsonOf = (value: object | null): string | null => value && JSON.stringify(value);

export function newTokenRow({ digest, scopes, resources, ...times }: NewAccessToken): NewTokenRow {
  return { ...times, digest: Buffer.from(digest), scopes: jsonOf(scopes), resources: jsonOf(resources) };
}

export function copyOf<Token extends RefreshTokenDigests>(token: Token): Token {
  return { ...token, digest: Buffer.from(token.digest), family: Buffer.from(token.family) };
}
