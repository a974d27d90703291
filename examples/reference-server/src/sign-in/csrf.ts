import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createProofs, type SigningKeys } from './proofs.ts';

/** A form of the page that a browser was shown, and the session that it had then. */
type Shown = readonly [cookie: string, form: string, sessionDigest: Buffer | null];

const partsOf = ([cookie, form, sessionDigest]: Shown) =>
  [form, cookie, sessionDigest?.toString('base64url') ?? ''] as const;

/** Ties a form to the browser that it was shown to, with a signed double-submit token. */
export function createCsrf(keys: SigningKeys) {
  const proofs = createProofs(keys);

  return {
    /** A fresh value for the browser's form cookie. */
    newCookie: (): string => randomBytes(32).toString('base64url'),
    isCookie: (value: string | undefined): value is string => /^[A-Za-z0-9_-]{43}$/.test(value ?? ''),
    /** Hidden field of a form. A token is only valid for its form and its session. */
    token: (...shown: Shown): string => proofs.of(...partsOf(shown)),
    verify: (token: string | null, ...shown: Shown): boolean => proofs.isOf(token ?? '', ...partsOf(shown)),
  };
}

/**
 * Checks whether one of our pages sent a form, according to the browser's headers. Requests without these
 * headers pass, and the token decides.
 */
export function isSameOrigin({ headers }: IncomingMessage, authUrl: string): boolean {
  if (headers.origin !== undefined) return headers.origin === authUrl;
  const site = headers['sec-fetch-site'];
  return site === undefined || site === 'same-origin';
}
