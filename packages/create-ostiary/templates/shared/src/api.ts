import type { Ostiary, UserRecord } from '@ostiary/core';
import type { Answer } from './answer.ts';
import { findUser } from './users.ts';

const json = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };

/** Response to a request without a valid token, or without a needed scope (RFC 6750, section 3). */
function refused(status: 401 | 403, challenge: string): Answer {
  return { status, headers: { 'WWW-Authenticate': challenge, 'Cache-Control': 'no-store' }, body: '' };
}

const isAway = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'STORAGE_UNAVAILABLE';

/** Responds to a request whose access token has all of the given scopes, and refuses any other request. */
async function guarded(
  ostiary: Ostiary,
  authorization: string | null | undefined,
  scopes: readonly string[],
  answer: (user: UserRecord) => unknown,
): Promise<Answer> {
  const [, token] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
  // Without a token, send no error code (RFC 6750, section 3.1).
  if (token === undefined) return refused(401, 'Bearer');
  try {
    const check = await ostiary.tokens.verify(token, { scopes });
    if (!check.active && check.reason === 'insufficient_scope')
      return refused(403, `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"`);
    const user = check.active ? findUser(check.sub) : null;
    if (user === null) return refused(401, 'Bearer error="invalid_token"');
    return { status: 200, headers: json, body: JSON.stringify(answer(user)) };
  } catch (error) {
    if (!isAway(error)) throw error;
    return { status: 503, headers: { 'Retry-After': '5' }, body: '' };
  }
}

/**
 * `GET /api/me`: your own endpoint, which apps call with the access token of a user who has approved
 * `profile`.
 */
export const me = (ostiary: Ostiary, authorization: string | null | undefined): Promise<Answer> =>
  guarded(ostiary, authorization, ['profile'], ({ sub, name }) => ({ sub, name }));
