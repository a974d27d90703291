import type { AccessTokenState } from '../ports/grants.ts';
import { expiredTokenMs } from './lifetimes.ts';

/**
 * Reason why an access token is refused. A token that was revoked and has expired since counts as `revoked`,
 * and a day after its expiry as `unknown`.
 */
export type TokenRejection = 'unknown' | 'revoked' | 'expired';

/**
 * Returns the reason why an access token with this stored state is refused at `now`; `null` if it is valid. A
 * token that expired more than a day ago (`expiredTokenMs`) counts as unknown.
 */
export function rejectionReason(token: AccessTokenState | null, now: number): TokenRejection | null {
  if (token === null || token.expiresAt + expiredTokenMs <= now) return 'unknown';
  if (token.revoked) return 'revoked';
  return token.expiresAt <= now ? 'expired' : null;
}
