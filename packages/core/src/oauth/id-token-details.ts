import type { Core } from '../options/context.ts';
import type { GrantState, IdTokenDetails } from '../ports/grants.ts';
import type { Authentication, UserRecord } from '../ports/users.ts';
import { readClaims } from './claims-parameter.ts';

/** Returns the named claims that the scopes cover, each with its scope. */
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
 * Returns additional content for all ID tokens of a grant: class and methods of the sign-in, and the claims
 * that the client requested and the approved scopes cover. `null` if there is none.
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
 * Returns the requested claims of an ID token from the host's record, validated. @throws UserRecordError if a
 * value is invalid
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
