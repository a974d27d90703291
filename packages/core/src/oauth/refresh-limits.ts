import { addressLimit, limitWindowMs, requireAllowed } from '../http/address-limit.ts';
import type { Core } from '../options/context.ts';
import { addressCounts } from './address-counts.ts';

/**
 * Limits how often refresh tokens are used in a minute. Each use counts before its work begins, with any
 * result.
 */
export function refreshLimits(core: Core) {
  const { refreshes, refreshesPerGrant } = core.options.limits;
  const counts = addressCounts(core);
  const addresses = addressLimit(counts, { name: 'refresh', limit: refreshes });
  return {
    /** @throws OAuthError `slow_down` if the address used refresh tokens as often as it may */
    async countAddress(address: string | null, now: number): Promise<void> {
      const state = await addresses.consume(address, now);
      requireAllowed([state], now, 'Refresh tokens were used too often from this address.');
    },
    /** @throws OAuthError `slow_down` if the refresh tokens of the grant were used as often as they may be */
    async countGrant(codeDigest: Uint8Array, now: number): Promise<void> {
      const bucket = `refresh:grant:${Buffer.from(codeDigest).toString('base64url')}`;
      const state = await counts.consume({ bucket, limit: refreshesPerGrant, windowMs: limitWindowMs, now });
      requireAllowed([state], now, 'The refresh tokens of this sign-in were used too often.');
    },
  };
}
