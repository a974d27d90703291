import type { AccessTokenState } from '../ports/grants.ts';
import { expiredTokenMs } from './lifetimes.ts';

/** Reason why a token is not accepted. `revoked` also applies to a revoked token that has expired since. */
export type DeadToken = 'unknown' | 'revoked' | 'expired';

/**
 * Returns the reason why a token of this state is not accepted at `now`, or null if it is. A token that ended
 * long ago is unknown.
 */
export function deadAt(token: AccessTokenState | null, now: number): DeadToken | null {
  if (token === null || token.expiresAt + expiredTokenMs <= now) return 'unknown';
  if (token.revoked) return 'revoked';
  return token.expiresAt <= now ? 'expired' : null;
}
