/**
 * Format of `sub` and `kid`: 1 to 255 printable ASCII characters (OpenID Connect Core, section 2, limits
 * `sub` to that).
 */
export const userIdFormat = /^[\x20-\x7E]{1,255}$/;

/** Error text for a user id in a wrong format. */
export const userIdWords = 'has to be 1 to 255 printable ASCII characters';

/**
 * Checks a `sub` that the host application's own code passed. @throws TypeError for a malformed id, and for a
 * number
 */
export function requireUserId(sub: unknown): asserts sub is string {
  if (typeof sub !== 'string' || !userIdFormat.test(sub)) throw new TypeError(`sub: ${userIdWords}`);
}
