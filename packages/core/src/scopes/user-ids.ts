/** Form of `sub` and `kid`: 1 to 255 printable ASCII characters (OpenID Connect Core, section 2, limits `sub` to that). */
export const userIdFormat = /^[\x20-\x7E]{1,255}$/;

/** Error text for an id of another form. */
export const userIdWords = 'has to be 1 to 255 printable ASCII characters';

/** Checks the `sub` that the host's own code passes. @throws TypeError for text of another form, and for an id that is a number */
export function requireUserId(sub: unknown): asserts sub is string {
  if (typeof sub !== 'string' || !userIdFormat.test(sub)) throw new TypeError(`sub: ${userIdWords}`);
}
