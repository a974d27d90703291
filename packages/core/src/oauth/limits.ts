import { OAuthError } from '../errors.ts';
import { addressLimit, limitWindowMs, requireAllowed } from '../http/address-limit.ts';
import { fixedWindows } from '../limits/fixed-windows.ts';
import type { Core } from '../options/context.ts';
import type { AddressCounts } from '../ports/rate-limits.ts';

/**
 * Returns the store for rate limit counts per client address: the host application's; otherwise the storage,
 * if it shares counts between processes; otherwise memory of this process, separate for each call of this
 * function.
 */
export function addressCounts({ options, storage }: Pick<Core, 'options' | 'storage'>): AddressCounts {
  return options.limits.store ?? storage.rateLimits ?? fixedWindows();
}

/**
 * Creates the limits for uses of refresh tokens per minute. A use is counted after the client's
 * authentication and before a token is created, whatever its result.
 */
export function refreshLimits(core: Core) {
  const { refreshes, refreshesPerGrant } = core.options.limits;
  const counts = addressCounts(core);
  const addresses = addressLimit(counts, { name: 'refresh', limit: refreshes });
  return {
    /** Counts a use of a refresh token by a client address. @throws OAuthError `slow_down` if the limit is reached */
    async countAddress(address: string | null, now: number): Promise<void> {
      const state = await addresses.consume(address, now);
      requireAllowed([state], now, 'Refresh tokens were used too often from this address.');
    },
    /** Counts a use of a refresh token of a grant. @throws OAuthError `slow_down` if the limit is reached */
    async countGrant(codeDigest: Uint8Array, now: number): Promise<void> {
      const bucket = `refresh:grant:${Buffer.from(codeDigest).toString('base64url')}`;
      const state = await counts.consume({ bucket, limit: refreshesPerGrant, windowMs: limitWindowMs, now });
      requireAllowed([state], now, 'The refresh tokens of this sign-in were used too often.');
    },
  };
}

/**
 * Time for which the number of unfinished authorization requests is cached, in milliseconds. Requests that
 * this process starts in that time are added.
 */
const countMs = 1000;

/**
 * Creates a function that refuses a new authorization request if too many are unfinished. It queries the
 * number at most once a second. So the limit may be exceeded briefly, by requests that other processes start
 * within a second.
 *
 * @param count - number of unfinished requests at a time
 * @param description - description in the error
 */
export function unfinishedLimit(
  { clock, options }: Core,
  count: (now: number) => Promise<number>,
  description: string,
): () => Promise<void> {
  const limit = options.limits.unfinishedInteractions;
  let counted = Promise.resolve(0);
  let countedAt = Number.NEGATIVE_INFINITY;
  let started = 0;

  return async () => {
    const now = clock.now();
    if (now - countedAt >= countMs || now < countedAt) {
      [counted, countedAt, started] = [count(now), now, 0];
      counted.catch(() => {
        countedAt = Number.NEGATIVE_INFINITY;
      });
    }
    if ((await counted) + started >= limit)
      throw new OAuthError('slow_down', description, { headers: { 'Retry-After': '60' } });
    started += 1;
  };
}
