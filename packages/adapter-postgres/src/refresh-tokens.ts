import type { GrantState, GrantStore, RefreshResult } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { copyOfList, grantColumns, grantOf, type Stored } from './grants.ts';
import { lookup, prepared } from './statement.ts';
import { lockTimeoutMs } from './timeouts.ts';

interface Refresh {
  readonly presented: Uint8Array;
  readonly family: Uint8Array;
  readonly successor: Uint8Array;
  readonly successorEndsAt: number;
  readonly otherSuccessors: readonly Uint8Array[];
  readonly token: Uint8Array;
  readonly scopes: readonly string[] | null;
  readonly resources: readonly string[] | null;
  readonly dpopJkt: string | null;
  readonly tokenIssuedAt: number;
  readonly tokenEndsAt: number;
  readonly graceMs: number;
  readonly maxAccessTokens: number;
  readonly now: number;
  readonly lockTimeout: string;
}

function statementsIn(schema: string) {
  return {
    findRefreshToken: lookup<{ family: Uint8Array }, Stored<GrantState>>(
      { family: 'bytea' },
      `
      SELECT ${grantColumns} FROM ${schema}.grants
      WHERE id = (SELECT grant_id FROM ${schema}.refresh_tokens WHERE refresh_tokens.family = :family LIMIT 1)
    `,
    ),

    refresh: prepared<Refresh, RefreshResult>(`
      SELECT outcome, stored_successor AS successor FROM ${schema}.refresh_grant(
        :presented, :family, :successor, :successorEndsAt, :otherSuccessors::bytea[],
        :token, :scopes, :resources, :dpopJkt, :tokenIssuedAt, :tokenEndsAt, :graceMs, :maxAccessTokens, :now,
        :lockTimeout
      )
    `),
  };
}

/** Creates the functions of the grant store that exchange refresh tokens. */
export function postgresRefreshTokens(database: Database): Pick<GrantStore, 'findRefreshToken' | 'refresh'> {
  const sql = statementsIn(database.schema);

  return {
    findRefreshToken: async ({ family }) =>
      grantOf(await database.get(sql.findRefreshToken, { family: Buffer.from(family) })),

    async refresh({ presented, successor, otherSuccessors, token, graceMs, maxAccessTokens, now }) {
      const refresh = {
        presented: Buffer.from(presented.digest),
        family: Buffer.from(presented.family),
        successor: Buffer.from(successor.digest),
        successorEndsAt: successor.expiresAt,
        otherSuccessors: otherSuccessors.map((other) => Buffer.from(other)),
        token: Buffer.from(token.digest),
        scopes: copyOfList(token.scopes),
        resources: copyOfList(token.resources),
        dpopJkt: token.dpopJkt,
        tokenIssuedAt: token.issuedAt,
        tokenEndsAt: token.expiresAt,
        ...{ graceMs, maxAccessTokens, now, lockTimeout: String(lockTimeoutMs) },
      };
      const row = await database.change((connection) => sql.refresh.get(connection, refresh));
      return row ?? { outcome: 'refused' };
    },
  };
}
