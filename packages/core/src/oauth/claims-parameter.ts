import { JsonError, parseJson } from '../http/json.ts';
import { invalid } from './request-parameters.ts';

/** A claim that a client requests (OpenID Connect Core, section 5.5.1). */
export interface RequestedClaim {
  /** True if the client marked the claim as `essential`. Only matters for `acr`. */
  readonly isEssential: boolean;
  /** Accepted values of the claim; an empty list accepts any value. */
  readonly values: readonly unknown[];
}

/**
 * Parsed content of the parameter `claims`: its members `userinfo` and `id_token` (OpenID Connect Core,
 * section 5.5).
 */
interface ClaimsRequest {
  readonly userinfo: ReadonlyMap<string, RequestedClaim>;
  readonly idToken: ReadonlyMap<string, RequestedClaim>;
}

const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function malformed(place: string): never {
  throw invalid(`The parameter claims is malformed: ${place}.`);
}

/**
 * Names of claims whose requested values are compared with the user and the sign-in, so the values must be
 * strings.
 */
const comparedClaims: ReadonlySet<string> = new Set(['acr', 'sub']);

function requestedClaim(name: string, given: unknown): RequestedClaim {
  if (given === null) return { isEssential: false, values: [] };
  if (!isObject(given)) malformed('each claim has to be null or an object');
  const { essential = false, value, values = [] } = given;
  if (typeof essential !== 'boolean') malformed('essential has to be true or false');
  if (!Array.isArray(values)) malformed('values has to be a list');
  const all = value === undefined ? values : [value];
  if (comparedClaims.has(name) && !all.every((one) => typeof one === 'string'))
    malformed('the values of acr and sub have to be texts');
  return { isEssential: essential, values: all };
}

function requestedClaims(given: unknown): ReadonlyMap<string, RequestedClaim> {
  if (!isObject(given)) malformed('userinfo and id_token have to be objects');
  return new Map(Object.entries(given).map(([name, claim]) => [name, requestedClaim(name, claim)]));
}

/**
 * Parses the parameter `claims`. Ignores unknown members. @throws OAuthError `invalid_request` if it is
 * malformed
 */
export function readClaims(text: string): ClaimsRequest {
  let claims: unknown;
  try {
    claims = parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    malformed('it has to be JSON without repeated names');
  }
  if (!isObject(claims)) malformed('it has to be an object');
  const { userinfo = {}, id_token = {} } = claims;
  return { userinfo: requestedClaims(userinfo), idToken: requestedClaims(id_token) };
}

/** Parameters of an authorization request that concern claims. */
type Parameters = { readonly claims?: unknown };

/**
 * Returns a claim that an authorization request wants in the ID token; `null` if the request does not name
 * it.
 */
export function idTokenClaimOf({ claims }: Parameters, name: string): RequestedClaim | null {
  return typeof claims === 'string' ? (readClaims(claims).idToken.get(name) ?? null) : null;
}

/**
 * Checks whether an authorization request accepts a user. Every user is accepted, unless the parameter
 * `claims` requests certain values of `sub` for the ID token (OpenID Connect Core, section 3.1.2.2).
 */
export function acceptsUser(parameters: Parameters, sub: string): boolean {
  const values = idTokenClaimOf(parameters, 'sub')?.values ?? [];
  return values.length === 0 || values.includes(sub);
}
