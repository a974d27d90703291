import type { GrantState, SharedRateLimits } from '@ostiary/core/storage';
import { clientStateOf, type FoundClientRow } from './clients.ts';
import type { Database } from './database.ts';
import { StorageUnavailableError } from './errors.ts';
import { grantColumns } from './grants.ts';
import { lookup } from './statement.ts';

/** Null is what there is not. Windows are JSON: bucket, count and end. */
interface ExchangeRow extends GrantState {
  readonly record: FoundClientRow['record'] | null;
  readonly partnerDisabled: boolean;
  readonly windows: readonly (readonly [string, number, number])[] | null;
}

/** See `RateLimitStore.consume`, in milliseconds. */
export const clockToleranceMs = 5_000;

/** Presents nothing that there is. */
const nobody = { clientId: '', codeDigest: new Uint8Array() };

/** Looks at counts without counting, and at what an exchange presents. */
export function postgresPeek(database: Database): SharedRateLimits['peek'] {
  const { schema } = database;
  // One row, whatever there is of it. Names of buckets have no line breaks.
  const look = lookup<
    { clientId: string; codeDigest: Uint8Array; buckets: string; now: number },
    ExchangeRow
  >(
    { clientId: 'text', codeDigest: 'bytea', buckets: 'text', now: 'bigint' },
    `
      SELECT ${grantColumns}, record, partner_disabled AS "partnerDisabled", (
        SELECT json_agg(json_build_array(bucket, count, ends_at)) FROM ${schema}.rate_limits
        WHERE bucket = ANY (string_to_array(:buckets, E'\n')) AND ends_at > :now
      ) AS windows
      FROM (SELECT) AS one
      LEFT JOIN ${schema}.clients ON clients.client_id = :clientId
      LEFT JOIN ${schema}.grants ON code_digest = :codeDigest
    `,
  );

  return async (requests, presented) => {
    const { clientId, codeDigest } = presented ?? nobody;
    const row = await database.get(look, {
      clientId,
      codeDigest: Buffer.from(codeDigest),
      buckets: requests.map(({ bucket }) => bucket).join('\n'),
      now: Math.max(...requests.map((request) => request.now)),
    });
    if (row === null) throw new StorageUnavailableError('a look answered nothing');
    const { windows, record, partnerDisabled, ...grant } = row;
    const known = new Map((windows ?? []).map(([bucket, count, endsAt]) => [bucket, { count, endsAt }]));
    return {
      states: requests.map(({ bucket, limit, windowMs, now }) => {
        const latestEnd = now + windowMs;
        const found = known.get(bucket);
        const isCurrent = found !== undefined && found.endsAt <= latestEnd + clockToleranceMs;
        const { count, endsAt } = isCurrent ? found : { count: 0, endsAt: latestEnd };
        return { allowed: count < limit, count, endsAt };
      }),
      client: record === null ? null : clientStateOf({ record, partnerDisabled }),
      grant: grant.codeDigest === null ? null : grant,
    };
  };
}
