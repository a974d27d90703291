import { CompactSign } from 'jose/jws/compact/sign';
import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { GrantState, IdTokenDetails } from '../ports/grants.ts';
import type { Authentication, UserRecord } from '../ports/users.ts';
import { readClaims } from './claims-parameter.ts';
import { accessTokenSeconds } from './lifetimes.ts';

/**
 * Names of the claims of every ID token, which the discovery document lists. `nonce` is only in the ID token
 * for a code, if the authorization request had one. Data about the user comes from userinfo, unless the
 * client requested it for the ID token.
 */
export const idTokenClaims = [
  'iss',
  'sub',
  'aud',
  'exp',
  'iat',
  'auth_time',
  'nonce',
  'at_hash',
  'sid',
] as const;

/**
 * Names of claims about the sign-in, present if the host application reports them. The discovery document
 * lists them if `login.acrValues` is set.
 */
export const signInClaims = ['acr', 'amr'] as const;

/**
 * Claims of an ID token by name. `nonce` is missing after a refresh, or if the authorization request had
 * none.
 */
type IdTokenClaims = Readonly<Record<Exclude<(typeof idTokenClaims)[number], 'nonce'>, string | number>> & {
  readonly nonce?: string;
  readonly acr?: string;
  readonly amr?: readonly string[];
};

/**
 * Signs a JWT with claims about a user for a client. @param typ - type in the header, by which kinds of
 * tokens are told apart
 */
export async function signForClient(
  { signingKeys }: Core,
  client: ClientRecord,
  claims: object,
  { typ, now }: { readonly typ: string; readonly now: number },
): Promise<string> {
  const key = (await signingKeys.current()).signing(client.idTokenAlg, now);
  // Not SignJWT: the claims are complete already, and it would copy and check them first, 5 µs on every
  // exchange.
  return new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ })
    .sign(key.privateJwk);
}

/**
 * Signs an ID token (OpenID Connect Core, section 2), which says who signed in, when and for which client.
 * Identity fields come from userinfo, except for those that the client requested for the ID token.
 */
export function signIdToken(
  core: Core,
  {
    client,
    grant,
    tokenDigest,
    userClaims,
    now,
  }: {
    client: ClientRecord;
    grant: GrantState;
    tokenDigest: Buffer;
    userClaims: Readonly<Record<string, unknown>>;
    now: number;
  },
): Promise<string> {
  const { acr, amr } = grant.idTokenDetails ?? {};
  const issuedAt = Math.floor(now / 1000);
  const claims: IdTokenClaims = {
    iss: core.options.issuer,
    sub: grant.sub,
    aud: client.clientId,
    exp: issuedAt + accessTokenSeconds,
    iat: issuedAt,
    sid: grant.sid,
    auth_time: Math.floor(grant.authenticatedAt / 1000),
    ...(grant.nonce === null ? {} : { nonce: grant.nonce }),
    // Left half of the access token's SHA-256 (section 3.1.3.6; both signing algorithms use SHA-256).
    at_hash: tokenDigest.toString('base64url', 0, 16),
    ...(acr !== undefined && { acr }),
    ...(amr !== undefined && { amr }),
  };
  return signForClient(core, client, { ...userClaims, ...claims }, { typ: 'JWT', now });
}

/** Returns those of the named claims that the scopes cover, each with its scope. */
function coveredClaims({ options }: Core, names: readonly string[], scopes: readonly string[]) {
  if (names.length === 0) return [];
  return scopes.flatMap((scope) =>
    options.scopes
      .claimsOf(scope)
      .filter(({ name }) => names.includes(name))
      .map((claim) => ({ scope, claim })),
  );
}

/**
 * Returns what ID tokens of a grant contain in addition: class and methods of the sign-in, and the names of
 * the claims that the client requested and the approved scopes cover. `null` if there is none.
 * @param claims - parameter `claims` of the authorization request
 */
export function idTokenDetailsOf(
  core: Core,
  user: Authentication | null,
  claims: string | null | undefined,
  scopes: readonly string[],
): IdTokenDetails | null {
  const { acr, amr } = user ?? {};
  const names = claims == null ? [] : [...readClaims(claims).idToken.keys()];
  const covered = coveredClaims(core, names, scopes).map(({ claim }) => claim.name);
  if (acr === undefined && amr === undefined && covered.length === 0) return null;
  return {
    ...(acr !== undefined && { acr }),
    ...(amr !== undefined && { amr }),
    ...(covered.length > 0 && { claims: covered }),
  };
}

/** Returns the scopes that cover the requested claims of an ID token, to be passed to `users.find`. */
export function scopesInIdToken(core: Core, grant: GrantState, scopes: readonly string[]): string[] {
  const shown = coveredClaims(core, grant.idTokenDetails?.claims ?? [], scopes);
  return [...new Set(shown.map(({ scope }) => scope))];
}

/**
 * Reads the requested claims of an ID token from the host application's user record and validates them.
 * @throws UserRecordError if a value is invalid
 */
export function userClaimsInIdToken(
  core: Core,
  grant: GrantState,
  scopes: readonly string[],
  user: UserRecord,
): Record<string, unknown> {
  const shown = coveredClaims(core, grant.idTokenDetails?.claims ?? [], scopes);
  const values = shown.map(({ claim }) => [claim.name, claim.of(user)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}
