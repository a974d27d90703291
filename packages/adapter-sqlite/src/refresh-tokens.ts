import type { GrantState, GrantStore, RefreshResult } from '@ostiary/core/storage';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { copyOf, type GrantRow, grantColumns, grantOf, newTokenRow, tokenInserts } from './grants.ts';

/** SQL subquery for the id of a grant, by the family of its refresh tokens. */
const grantOfRefreshToken = '(SELECT grant_id FROM refresh_tokens WHERE family = +:family LIMIT 1)';

function statementsOn(connection: Connection) {
  return {
    ...tokenInserts(connection),

    findRefreshToken: connection.prepare<[{ family: Uint8Array }], GrantRow<GrantState>>(`
      SELECT ${grantColumns} FROM grants WHERE id = ${grantOfRefreshToken}
    `),

    // Disabling a client or its partner revokes its grants, so checking the grant is enough. The plus signs
    // are explained at `findToken` in grants.ts.
    presented: connection.prepare<
      [{ digest: Uint8Array; family: Uint8Array; now: number; graceMs: number }],
      {
        grantId: number;
        successor: Uint8Array | null;
        /** 1 if the refresh token was replaced, or only its family is known. */
        isReplaced: 0 | 1;
        /**
         * 1 if the refresh token was replaced at most `graceMs` before or after `now`, and the token that
         * replaced it was not replaced itself.
         */
        givesSuccessor: 0 | 1;
        isAlive: 0 | 1;
      }
    >(`
      SELECT
        grants.id AS grantId, own.successor, own.digest IS NULL OR own.replaced_at IS NOT NULL AS isReplaced,
        coalesce(abs(:now - own.replaced_at) <= :graceMs, 0)
          AND EXISTS (SELECT 1 FROM refresh_tokens WHERE digest = own.successor AND replaced_at IS NULL) AS givesSuccessor,
        coalesce(own.expires_at > :now, 0) AND revoked_at IS NULL AS isAlive
      FROM grants LEFT JOIN refresh_tokens AS own ON own.digest = +:digest
      WHERE grants.id = ${grantOfRefreshToken}
    `),

    // Removes the token that the presented one replaced: from now on it is recognized by its family.
    removeReplaced: connection.prepare<[{ family: Uint8Array }]>(`
      DELETE FROM refresh_tokens WHERE family = :family AND replaced_at IS NOT NULL
    `),

    replaceRefreshToken: connection.prepare<[{ digest: Uint8Array; successor: Uint8Array; now: number }]>(`
      UPDATE refresh_tokens SET replaced_at = :now, successor = :successor WHERE digest = :digest
    `),

    extendRefreshToken: connection.prepare<[{ digest: Uint8Array; expiresAt: number }]>(`
      UPDATE refresh_tokens SET expires_at = :expiresAt WHERE digest = :digest
    `),

    removeOldTokens: connection.prepare<[{ grantId: number; digest: Uint8Array; maxAccessTokens: number }]>(`
      DELETE FROM access_tokens WHERE digest IN (
        SELECT digest FROM access_tokens WHERE grant_id = +:grantId
        ORDER BY digest = +:digest DESC, issued_at DESC, digest LIMIT -1 OFFSET +:maxAccessTokens
      )
    `),

    prolong: connection.prepare<[{ grantId: number; endsAt: number }]>(`
      UPDATE grants SET ends_at = max(ends_at, :endsAt) WHERE id = :grantId
    `),

    revokeById: connection.prepare<[{ grantId: number; now: number }]>(`
      UPDATE grants SET revoked_at = coalesce(revoked_at, :now) WHERE id = :grantId
    `),
  };
}

/** Creates the functions of the grant store that exchange refresh tokens. */
export function sqliteRefreshTokens(database: Database): Pick<GrantStore, 'findRefreshToken' | 'refresh'> {
  const sql = database.prepare(statementsOn);

  return {
    findRefreshToken: ({ family }) => database.find(() => sql().findRefreshToken.get({ family }), grantOf),

    async refresh({ graceMs, maxAccessTokens, now, ...refresh }): Promise<RefreshResult> {
      const { digest, family } = copyOf(refresh.presented);
      const next = { ...refresh.successor, digest: Buffer.from(refresh.successor.digest) };
      const derivable = [next.digest, ...refresh.otherSuccessors.map((other) => Buffer.from(other))];
      const token = newTokenRow(refresh.token);
      return database.write((): RefreshResult => {
        const presented = sql().presented.get({ digest, family, now, graceMs });
        if (presented === undefined) return { outcome: 'refused' };
        const { grantId } = presented;
        const isReplaced = presented.isReplaced === 1;
        if (isReplaced && presented.givesSuccessor === 0) {
          sql().revokeById.run({ grantId, now });
          return { outcome: 'replayed' };
        }
        if (presented.isAlive === 0) return { outcome: 'refused' };
        const stored = presented.successor;
        const successor = isReplaced
          ? derivable.find((one) => stored !== null && one.equals(stored))
          : next.digest;
        if (successor === undefined) return { outcome: 'unknown_successor' };
        if (!isReplaced && successor.equals(digest)) {
          sql().extendRefreshToken.run({ digest, expiresAt: next.expiresAt });
          sql().prolong.run({ grantId, endsAt: next.expiresAt });
        } else if (!isReplaced) {
          sql().removeReplaced.run({ family });
          sql().replaceRefreshToken.run({ digest, successor, now });
          sql().insertRefreshToken.run({ ...next, family, grantId });
          sql().prolong.run({ grantId, endsAt: next.expiresAt });
        }
        sql().insertToken.run({ ...token, grantId });
        sql().removeOldTokens.run({ grantId, digest: token.digest, maxAccessTokens });
        sql().prolong.run({ grantId, endsAt: token.expiresAt });
        return { outcome: 'refreshed', successor };
      });
    },
  };
}
