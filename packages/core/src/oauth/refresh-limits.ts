import { addressLimit, limitWindowMs, requireAllowed } from '../http/address-limit.ts';
import type { Core } from '../options/context.ts';
import { addressCounts } from './address-counts.ts';

/**
 * Creates the limits for uses of refresh tokens per minute. Each use is counted before its work begins,
 * whatever its result.
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
