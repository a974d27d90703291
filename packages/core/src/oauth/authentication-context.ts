import type { Core } from '../options/context.ts';
import type { Authentication } from '../ports/users.ts';
import { isContextClass } from '../scopes/context-classes.ts';
import { spaceSeparated } from '../text/space-separated.ts';
import { idTokenClaimOf } from './claims-parameter.ts';

/** Maximum number of authentication context classes in `acr_values`. A longer list is ignored. */
const maxClasses = 16;

/**
 * Reads `acr_values`, which is only a preference (OpenID Connect Core, section 3.1.2.1). So a parameter that
 * was sent twice (`null`) or is malformed counts as missing.
 */
export function readAcrValues(text: string | null | undefined): string | undefined {
  const values = spaceSeparated(text ?? '');
  if (values.length === 0 || values.length > maxClasses || !values.every(isContextClass)) return undefined;
  return values.join(' ');
}

/** Parameters of an authorization request that concern the authentication context class. */
type Parameters = { readonly [name in 'acr_values' | 'claims' | 'prompt']?: unknown };

/**
 * Returns the authentication context classes that a request names, most wanted first. `acr` in the parameter
 * `claims` takes precedence over `acr_values`.
 */
export function requestedClasses(parameters: Parameters): readonly string[] {
  const values = idTokenClaimOf(parameters, 'acr')?.values ?? [];
  if (values.length > 0) return values.map(String);
  return spaceSeparated(String(parameters.acr_values ?? ''));
}

/**
 * Checks whether a sign-in has one of the requested authentication context classes. True if the request names
 * none.
 */
function meets(parameters: Parameters, user: Authentication | null): boolean {
  const classes = requestedClasses(parameters);
  return classes.length === 0 || (user?.acr !== undefined && classes.includes(user.acr));
}

/**
 * Checks whether a request must fail with the user's current sign-in, because it requires `acr` as an
 * essential claim with certain values and the sign-in has none of them (OpenID Connect Core, section
 * 5.5.1.1).
 */
export function lacksEssentialClass(parameters: Parameters, user: Authentication | null): boolean {
  const claim = idTokenClaimOf(parameters, 'acr');
  return claim?.isEssential === true && claim.values.length > 0 && !meets(parameters, user);
}

/**
 * Checks whether the user should sign in again to get one of the requested authentication context classes.
 * True if the class is essential. Otherwise only if the host application lists one of the classes in
 * `login.acrValues` and the request allows a page.
 */
export function needsAnotherClass(
  { options }: Core,
  parameters: Parameters,
  user: Authentication | null,
): boolean {
  if (meets(parameters, user)) return false;
  if (lacksEssentialClass(parameters, user)) return true;
  const own = options.login.acrValues ?? [];
  return parameters.prompt !== 'none' && requestedClasses(parameters).some((one) => own.includes(one));
}
