import type { Authentication } from '../ports/users.ts';
import { digest } from '../secrets/tokens.ts';

/**
 * Returns the session id (`sid`) of a sign-in for apps (OpenID Connect Back-Channel Logout 1.0, section 2.1):
 * a hash of the host's session id, or of the user and the second of the sign-in if the host gives none.
 */
export function sessionIdOf({ sub, authenticatedAt, sessionId }: Authentication): string {
  // Whole seconds, because ID tokens contain the time of a sign-in in seconds.
  const seconds = Math.floor(authenticatedAt.getTime() / 1000);
  const source = sessionId === undefined ? ['sign-in', sub, seconds] : ['session', sub, sessionId];
  return digest(JSON.stringify(source)).toString('base64url');
}
