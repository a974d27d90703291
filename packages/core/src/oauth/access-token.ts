import type { AccessTokenState } from '../ports/grants.ts';
import { expiredTokenMs } from './lifetimes.ts';

/** Why a token opens nothing; `revoked` also when it has expired since. */
export type DeadToken = 'unknown' | 'revoked' | 'expired';

/** Whether a token of this state opens anything at `now`, and if not why. One that ended long ago is not known any more. */
export function deadAt(token: AccessTokenState | null, now: number): DeadToken | null {
  if (token === null || token.expiresAt + expiredTokenMs <= now) return 'unknown';
  if (token.revoked) return 'revoked';
  return token.expiresAt <= now ? 'expired' : null;
}
