import type { AccessTokenState, GrantRecord, GrantState, GrantStore } from '@ostiary/core/storage';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';

type GrantRow = Omit<GrantState, 'scopes'> & { readonly scopes: string };
type TokenRow = Omit<AccessTokenState, 'scopes' | 'revoked'> & {
  readonly scopes: string;
  readonly revoked: 0 | 1;
};

/** A consent says again that it was used after an hour: most sign-ins do not write it. */
const usedAtStepMs = 3_600_000;

function statementsOn(connection: Connection) {
  return {
    issue: connection.prepare<[Omit<GrantRecord, 'scopes'> & { readonly scopes: string }]>(`
      INSERT INTO grants (
        code_digest, client_id, sub, scopes, redirect_uri, code_challenge, nonce,
        authenticated_at, issued_at, expires_at, ends_at
      )
      SELECT
        :codeDigest, client_id, :sub, :scopes, :redirectUri, :codeChallenge, :nonce,
        :authenticatedAt, :issuedAt, :expiresAt, :expiresAt
      FROM clients JOIN consents USING (client_id)
      WHERE client_id = :clientId AND disabled_at IS NULL AND partner_disabled = 0 AND sub = :sub
        AND revoked_at IS NULL
        AND NOT EXISTS (
          SELECT value FROM json_each(:scopes) EXCEPT SELECT value FROM json_each(consents.scopes)
        )
    `),

    use: connection.prepare<[{ sub: string; clientId: string; issuedAt: number }]>(`
      UPDATE consents SET used_at = :issuedAt
      WHERE sub = :sub AND client_id = :clientId AND revoked_at IS NULL
        AND (used_at IS NULL OR used_at <= :issuedAt - ${usedAtStepMs})
    `),

    find: connection.prepare<[Uint8Array], GrantRow>(`
      SELECT
        code_digest AS codeDigest, client_id AS clientId, sub, scopes, redirect_uri AS redirectUri,
        code_challenge AS codeChallenge, nonce, authenticated_at AS authenticatedAt, issued_at AS issuedAt,
        expires_at AS expiresAt, consumed_at AS consumedAt, revoked_at AS revokedAt,
        failed_verifiers AS failedVerifiers
      FROM grants WHERE code_digest = ?
    `),

    consume: connection.prepare<
      [{ codeDigest: Uint8Array; maxFailedVerifiers: number; now: number; tokenEndsAt: number }],
      { id: number }
    >(`
      UPDATE grants SET consumed_at = :now, ends_at = max(ends_at, :tokenEndsAt)
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

    insertToken: connection.prepare<
      [{ digest: Uint8Array; grantId: number; issuedAt: number; expiresAt: number }]
    >(`
      INSERT INTO access_tokens (digest, grant_id, issued_at, expires_at)
      VALUES (:digest, :grantId, :issuedAt, :expiresAt)
    `),

    // Every use of a token: one statement, two look-ups by primary key. Without the plus SQLite, as the driver builds
    // it (STAT4), plans a join again for every value that is bound, which costs five times the look-up.
    findToken: connection.prepare<[Uint8Array], TokenRow>(`
      SELECT
        grants.client_id AS clientId, grants.sub AS sub, grants.scopes AS scopes,
        access_tokens.expires_at AS expiresAt,
        access_tokens.revoked_at IS NOT NULL OR grants.revoked_at IS NOT NULL AS revoked
      FROM access_tokens JOIN grants ON grants.id = access_tokens.grant_id
      WHERE access_tokens.digest = +?
    `),

    revokeToken: connection.prepare<[{ digest: Uint8Array; now: number }], { clientId: string }>(`
      UPDATE access_tokens SET revoked_at = coalesce(revoked_at, :now) WHERE digest = :digest
      RETURNING (SELECT client_id FROM grants WHERE grants.id = access_tokens.grant_id) AS clientId
    `),
  };
}

export function sqliteGrants(database: Database): GrantStore {
  const sql = database.prepare(statementsOn);

  return {
    async issue({ codeDigest, scopes, ...grant }) {
      const row = { ...grant, codeDigest: Buffer.from(codeDigest), scopes: JSON.stringify(scopes) };
      const { sub, clientId, issuedAt } = grant;
      return database.write(() => {
        if (sql().issue.run(row).changes === 0) return false;
        sql().use.run({ sub, clientId, issuedAt });
        return true;
      });
    },

    find: (codeDigest) =>
      database.find(
        () => sql().find.get(codeDigest),
        (row) => ({ ...row, scopes: JSON.parse(row.scopes) }),
      ),

    async redeem(redemption) {
      const { maxFailedVerifiers, now } = redemption;
      const { issuedAt, expiresAt } = redemption.token;
      const codeDigest = Buffer.from(redemption.codeDigest);
      const digest = Buffer.from(redemption.token.digest);
      return database.write(() => {
        const consumed = sql().consume.get({ codeDigest, maxFailedVerifiers, now, tokenEndsAt: expiresAt });
        if (consumed !== undefined) {
          sql().insertToken.run({ digest, grantId: consumed.id, issuedAt, expiresAt });
          return 'redeemed';
        }
        return sql().revokeConsumed.run({ codeDigest, now }).changes === 1 ? 'replayed' : 'refused';
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
        (row) => ({ ...row, scopes: JSON.parse(row.scopes), revoked: row.revoked === 1 }),
      ),

    async revokeToken(tokenDigest, now) {
      const digest = Buffer.from(tokenDigest);
      return database.write(() => sql().revokeToken.get({ digest, now }) ?? null);
    },
  };
}
