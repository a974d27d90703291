import type {
  AccessTokenState,
  GrantRecord,
  GrantState,
  GrantStore,
  NewAccessToken,
} from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { lookup, prepared, statement } from './statement.ts';

type CodeAt = { readonly codeDigest: Uint8Array; readonly now: number };

/** Revokes grants. Locked in the order of their ids, as everywhere, so that nobody waits in a circle. */
export const revokeGrantsWhere = (schema: string, condition: string) => `
  UPDATE ${schema}.grants SET revoked_at = :now
  WHERE id IN (
    SELECT id FROM ${schema}.grants WHERE ${condition} AND revoked_at IS NULL ORDER BY id FOR UPDATE
  )
`;

function statementsIn(schema: string) {
  return {
    // Holds the client and the consent until the commit: whoever disables the one, or its partner, or revokes the other,
    // either comes first or finds this grant.
    issue: prepared<GrantRecord>(`
      INSERT INTO ${schema}.grants (
        code_digest, client_id, sub, scopes, redirect_uri, code_challenge, nonce,
        authenticated_at, issued_at, expires_at, ends_at
      )
      SELECT
        :codeDigest, client_id, sub, :scopes::text[], :redirectUri, :codeChallenge, :nonce,
        :authenticatedAt, :issuedAt, :expiresAt, :expiresAt
      FROM ${schema}.clients JOIN ${schema}.consents USING (client_id)
      WHERE client_id = :clientId AND disabled_at IS NULL AND NOT partner_disabled
        AND sub = :sub AND revoked_at IS NULL AND :scopes::text[] <@ consents.scopes
      FOR SHARE OF clients, consents
    `),

    find: lookup<{ codeDigest: Uint8Array }, GrantState>(
      { codeDigest: 'bytea' },
      `
      SELECT
        code_digest AS "codeDigest", client_id AS "clientId", sub, scopes, redirect_uri AS "redirectUri",
        code_challenge AS "codeChallenge", nonce, authenticated_at AS "authenticatedAt",
        issued_at AS "issuedAt", expires_at AS "expiresAt", consumed_at AS "consumedAt",
        revoked_at AS "revokedAt", failed_verifiers AS "failedVerifiers"
      FROM ${schema}.grants WHERE code_digest = :codeDigest
    `,
    ),

    // Of parallel calls the first one locks the row; the others wait, and then find it consumed.
    consume: prepared<CodeAt & { maxFailedVerifiers: number; tokenEndsAt: number }, { id: number }>(`
      UPDATE ${schema}.grants SET consumed_at = :now, ends_at = greatest(ends_at, :tokenEndsAt)
      WHERE code_digest = :codeDigest
        AND consumed_at IS NULL AND revoked_at IS NULL AND expires_at > :now
        AND failed_verifiers < :maxFailedVerifiers
        AND EXISTS (
          SELECT 1 FROM ${schema}.clients
          WHERE clients.client_id = grants.client_id AND disabled_at IS NULL AND NOT partner_disabled
        )
      RETURNING id
    `),

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

    insertToken: prepared<NewAccessToken & { grantId: number }>(`
      INSERT INTO ${schema}.access_tokens (digest, grant_id, issued_at, expires_at)
      VALUES (:digest, :grantId, :issuedAt, :expiresAt)
    `),

    // Every use of a token: one statement, two look-ups by primary key.
    findToken: lookup<{ digest: Uint8Array }, AccessTokenState>(
      { digest: 'bytea' },
      `
      SELECT
        grants.client_id AS "clientId", grants.sub AS sub, grants.scopes AS scopes,
        access_tokens.expires_at AS "expiresAt",
        access_tokens.revoked_at IS NOT NULL OR grants.revoked_at IS NOT NULL AS revoked
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

export function postgresGrants(database: Database): GrantStore {
  const sql = statementsIn(database.schema);

  return {
    issue: (grant) => {
      const row = { ...grant, codeDigest: Buffer.from(grant.codeDigest), scopes: [...grant.scopes] };
      return database.changes(sql.issue, row);
    },

    find: (codeDigest) => database.get(sql.find, { codeDigest: Buffer.from(codeDigest) }),

    async redeem({ maxFailedVerifiers, now, ...redemption }) {
      const code = { codeDigest: Buffer.from(redemption.codeDigest), now };
      const token = { ...redemption.token, digest: Buffer.from(redemption.token.digest) };
      const use = { ...code, maxFailedVerifiers, tokenEndsAt: token.expiresAt };
      return database.write(async (connection) => {
        const consumed = await sql.consume.get(connection, use);
        if (consumed !== undefined) {
          await sql.insertToken.run(connection, { ...token, grantId: consumed.id });
          return 'redeemed';
        }
        return (await sql.revokeConsumed.run(connection, code)) === 1 ? 'replayed' : 'refused';
      });
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
