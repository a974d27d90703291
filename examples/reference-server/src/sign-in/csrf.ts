import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** See {@link createCsrf}. */
export type Csrf = ReturnType<typeof createCsrf>;

/** A form of the page that a browser was shown, and the session that it had then. */
type Shown = readonly [cookie: string, form: string, sessionDigest: Uint8Array | null];

const sign = (key: Uint8Array, [cookie, form, sessionDigest]: Shown): Buffer =>
  createHmac('sha256', key)
    .update(`${form}\n${cookie}\n`)
    .update(sessionDigest ?? '')
    .digest();

/**
 * Ties a form to the browser that it was shown to, with a signed double-submit token.
 *
 * @param keys - the first one signs, all are accepted: processes may know them in another order while they are changed
 */
export function createCsrf(keys: readonly [Uint8Array, ...Uint8Array[]]) {
  return {
    /** A fresh value for the browser's form cookie. */
    newCookie: (): string => randomBytes(32).toString('base64url'),
    isCookie: (value: string | undefined): value is string => /^[A-Za-z0-9_-]{43}$/.test(value ?? ''),
    /** The hidden field of a form. A token of one form, or of another session, is none for this one. */
    token: (...shown: Shown): string => sign(keys[0], shown).toString('base64url'),
    verify(token: string | null, ...shown: Shown): boolean {
      const given = Buffer.from(token ?? '', 'base64url');
      return keys.some((key) => {
        const expected = sign(key, shown);
        return given.length === expected.length && timingSafeEqual(given, expected);
      });
    },
  };
}

/** Whether a form was sent by a page of ours, as far as the browser says. Browsers that say nothing pass: the token decides. */
export function isSameOrigin({ headers }: IncomingMessage, authUrl: string): boolean {
  if (headers.origin !== undefined) return headers.origin === authUrl;
  const site = headers['sec-fetch-site'];
  return site === undefined || site === 'same-origin';
}
