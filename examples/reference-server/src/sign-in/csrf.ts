import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Ties a form to the browser that it was shown to: a signed double-submit token, and a look at who sent the form. */
export interface Csrf {
  /** A fresh value for the browser's form cookie. */
  newCookie(): string;
  isCookie(value: string | undefined): value is string;
  /** The hidden field of a form. A token of one form, or of another session, is none for this one. */
  token(cookie: string, form: string, sessionDigest: Uint8Array | null): string;
  verify(cookie: string, form: string, sessionDigest: Uint8Array | null, token: string | undefined): boolean;
}

/** @param keys - the first one signs, all are accepted: processes may know them in another order while they are changed */
export function createCsrf(keys: readonly Uint8Array[]): Csrf {
  const [current] = keys;
  if (current === undefined) throw new TypeError('a form needs a key');
  const sign = (key: Uint8Array, cookie: string, form: string, sessionDigest: Uint8Array | null): Buffer =>
    createHmac('sha256', key)
      .update(`${form}\n${cookie}\n`)
      .update(sessionDigest ?? '')
      .digest();

  return {
    newCookie: () => randomBytes(32).toString('base64url'),
    isCookie: (value): value is string => value !== undefined && /^[A-Za-z0-9_-]{43}$/.test(value),
    token: (cookie, form, sessionDigest) => sign(current, cookie, form, sessionDigest).toString('base64url'),
    verify(cookie, form, sessionDigest, token) {
      const given = Buffer.from(token ?? '', 'base64url');
      return keys.some((key) => {
        const expected = sign(key, cookie, form, sessionDigest);
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
