import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createProofs, type SigningKeys } from './proofs.ts';

/**
 * Facts about a form when it was shown: the browser's form cookie, the name of the form, and the session.
 */
type Shown = readonly [cookie: string, form: string, sessionDigest: Buffer | null];

const partsOf = ([cookie, form, sessionDigest]: Shown) =>
  [form, cookie, sessionDigest?.toString('base64url') ?? ''] as const;

/** Makes and checks the CSRF tokens that bind forms to a browser. */
export type Csrf = ReturnType<typeof createCsrf>;

/**
 * Creates and checks CSRF tokens, which bind a form to the browser that it was shown to (signed double
 * submit).
 */
export function createCsrf(keys: SigningKeys) {
  const proofs = createProofs(keys);

  return {
    /** Returns a new value for the browser's form cookie. */
    newCookie: (): string => randomBytes(32).toString('base64url'),
    isCookie: (value: string | undefined): value is string => /^[A-Za-z0-9_-]{43}$/.test(value ?? ''),
    /**
     * Makes the CSRF token for the hidden field of a form. The token is valid only for its form, cookie and
     * session.
     */
    token: (...shown: Shown): string => proofs.of(...partsOf(shown)),
    verify: (token: string | null, ...shown: Shown): boolean => proofs.isOf(token ?? '', ...partsOf(shown)),
  };
}

/**
 * Checks by the browser's headers whether a page of this server sent a form. Requests without these headers
 * pass, and the token decides.
 */
export function isSameOrigin({ headers }: IncomingMessage, authUrl: string): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  // `Origin: null` hides the origin: browsers send it if a proxy sets `Referrer-Policy: no-referrer`.
  if (origin !== undefined && origin !== 'null') return origin === authUrl;
  return site === 'same-origin' || (site === undefined && origin === undefined);
}

/** Time after a sign-in in which its button may be pressed again while the next page is loading, in milliseconds. */
const pressedAgainMs = 60_000;

/** Checks whether a session began so recently that the button of its sign-in form may have been pressed again. */
export const hasJustBegun = ({ authenticatedAt }: { readonly authenticatedAt: Date }, now: number): boolean =>
  now - authenticatedAt.getTime() < pressedAgainMs;
