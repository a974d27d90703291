import type { Core } from '../options/context.ts';
import type { Authentication } from '../ports/users.ts';
import { isContextClass } from '../scopes/context-classes.ts';
import { spaceSeparated } from '../text/space-separated.ts';
import { idTokenClaimOf } from './claims-parameter.ts';

/** Number of classes that a request can ask for. */
const maxClasses = 16;

/**
 * Reads `acr_values`, a wish that no answer depends on (OpenID Connect Core, section 3.1.2.1): a parameter that came twice (`null`)
 * or is malformed counts as not sent.
 */
export function readAcrValues(text: string | null | undefined): string | undefined {
  const values = spaceSeparated(text ?? '');
  if (values.length === 0 || values.length > maxClasses || !values.every(isContextClass)) return undefined;
  return values.join(' ');
}

/** Parameters of an authorization request, checked. */
type Parameters = { readonly [name in 'acr_values' | 'claims' | 'prompt']?: unknown };

/** Classes that a request asks for, most wanted first: `acr` of the parameter `claims` wins over `acr_values`. */
export function requestedClasses(parameters: Parameters): readonly string[] {
  const values = idTokenClaimOf(parameters, 'acr')?.values ?? [];
  if (values.length > 0) return values.map(String);
  return spaceSeparated(String(parameters.acr_values ?? ''));
}

/** Checks whether a sign-in has one of the requested classes, or none is requested. */
function meets(parameters: Parameters, user: Authentication | null): boolean {
  const classes = requestedClasses(parameters);
  return classes.length === 0 || (user?.acr !== undefined && classes.includes(user.acr));
}

/**
 * Checks whether a request must fail with this sign-in: it asks for `acr` as an essential claim with values, and the sign-in has
 * none of them (OpenID Connect Core, section 5.5.1.1).
 */
export function lacksEssentialClass(parameters: Parameters, user: Authentication | null): boolean {
  const claim = idTokenClaimOf(parameters, 'acr');
  return claim?.isEssential === true && claim.values.length > 0 && !meets(parameters, user);
}

/**
 * Checks whether a user should sign in again, so that the sign-in has a requested class: always if that is essential, otherwise if
 * the host lists one of the classes as its own (`login.acrValues`) and the request allows a page.
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
