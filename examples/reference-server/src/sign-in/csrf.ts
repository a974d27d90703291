import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createProofs, type SigningKeys } from './proofs.ts';

/**
 * A form as it was shown to a browser: the browser's form cookie, the name of the form, and the session at
 * that time.
 */
type Shown = readonly [cookie: string, form: string, sessionDigest: Buffer | null];

const partsOf = ([cookie, form, sessionDigest]: Shown) =>
  [form, cookie, sessionDigest?.toString('base64url') ?? ''] as const;

/** Binds forms to the browser that they were shown to, with signed double-submit tokens. */
export function createCsrf(keys: SigningKeys) {
  const proofs = createProofs(keys);

  return {
    /** Returns a new value for the browser's form cookie. */
    newCookie: (): string => randomBytes(32).toString('base64url'),
    isCookie: (value: string | undefined): value is string => /^[A-Za-z0-9_-]{43}$/.test(value ?? ''),
    /** Makes the token for a hidden field. It is only valid for its form, cookie and session. */
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
