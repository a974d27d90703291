import { OAuthError } from '../errors.ts';
import type { Core } from '../options/context.ts';
import type { Options } from '../options/parse.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { Logger } from '../telemetry/logger.ts';
import { printableUrl } from '../text/printable.ts';
import { spaceSeparated } from '../text/space-separated.ts';
import { readAcrValues } from './authentication-context.ts';
import { readClaims } from './claims-parameter.ts';
import { findRequestingClient, needsPkce, requireEnabled } from './client.ts';
import { isRegisteredRedirectUri } from './redirect-uri.ts';
import { invalid, oneValue, printed, type RawParameters, requireShort } from './request-parameters.ts';
import { requestedScopes } from './requested-scopes.ts';
import { requestedResources, requireGrantable } from './resources.ts';

/**
 * Maximum length of parameter values that are stored while the user decides, in bytes; longer values are
 * refused. A hint may be longer than a nonce, because it is an ID token that contains one.
 */
const maxBytes = {
  state: 4096,
  nonce: 4096,
  id_token_hint: 8192,
  login_hint: 512,
  ui_locales: 512,
  claims: 4096,
} as const;

/**
 * Names of the parameters of an authorization request that are read; all others are ignored (RFC 6749,
 * section 3.1).
 */
export const knownParameters = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'nonce',
  'response_mode',
  'code_challenge',
  'code_challenge_method',
  'prompt',
  'max_age',
  'login_hint',
  'id_token_hint',
  'ui_locales',
  'acr_values',
  'claims',
  'request',
  'request_uri',
  'registration',
  'resource',
  'dpop_jkt',
] as const;

/** Name of a parameter of an authorization request. */
export type Parameter = (typeof knownParameters)[number];

/** A client with the redirect URI of its request. Once both are known, most errors are sent to that URI. */
export interface RedirectTarget {
  readonly client: ClientRecord;
  readonly redirectUri: string;
  /**
   * Value of the request's `state`, which the response returns; `null` if it was missing, repeated or
   * malformed.
   */
  readonly state: string | null;
}

/**
 * Returns a parameter without which the browser cannot be redirected to the client. @throws OAuthError if it
 * is missing, repeated or malformed
 */
function required(parameters: RawParameters<Parameter>, name: 'client_id' | 'redirect_uri'): string {
  const value = oneValue(parameters, name);
  if (value) return value;
  throw invalid(`The parameter ${name} is missing.`);
}

/**
 * Returns the `client_id` of an authorization request. @throws OAuthError if it is missing, repeated or
 * malformed
 */
export const requestedClientId = (parameters: RawParameters<Parameter>): string =>
  required(parameters, 'client_id');

/**
 * Checks the redirect URI of a client's authorization request and returns it, with the client and `state`.
 * @throws OAuthError if it is missing, repeated, malformed or not registered
 */
export function redirectTarget(
  client: ClientRecord,
  parameters: RawParameters<Parameter>,
  logger: Logger,
): RedirectTarget {
  const redirectUri = required(parameters, 'redirect_uri');
  if (!isRegisteredRedirectUri(client, redirectUri)) {
    // Logged for the operator, because the user who sees the error page cannot correct it.
    logger.warn(
      { client: client.clientId, redirectUri: printableUrl(redirectUri) },
      'an authorization request was refused: its redirect_uri is not registered',
    );
    throw new OAuthError('redirect_uri_mismatch');
  }
  return { client, redirectUri, state: parameters.get('state') ?? null };
}

/**
 * Reads and checks the client and the redirect URI of an authorization request. Before this succeeds, the
 * browser must not be redirected.
 * @param address - client address of the request
 * @throws OAuthError if one of them is missing, repeated or malformed, or the client is unknown or disabled,
 * or its metadata document cannot be used, or the redirect URI is not registered
 */
export async function findRedirectTarget(
  core: Core,
  parameters: RawParameters<Parameter>,
  address: string | null,
): Promise<RedirectTarget> {
  const clientId = requestedClientId(parameters);
  required(parameters, 'redirect_uri');
  const client = requireEnabled(await findRequestingClient(core, clientId, address));
  return redirectTarget(client, parameters, core.options.logger);
}

/**
 * Refuses an authorization request that was not pushed, if this client or every client has to push its
 * requests (RFC 9126). @throws OAuthError `invalid_request`
 */
export function requirePushed({ pushedRequests }: Options, { requirePushedRequests }: ClientRecord): void {
  if (requirePushedRequests === true || pushedRequests?.required === true)
    throw invalid('This client has to push its authorization requests.');
}

/** Supported values of `prompt`. */
export const promptValues = ['none', 'login', 'consent'] as const;

/**
 * Returns the values of `prompt` in one canonical form (OpenID Connect Core, section 3.1.2.1). @throws
 * OAuthError for an unsupported value or combination
 */
function requestedPrompt(prompt: string): string {
  const values = spaceSeparated(prompt);
  const unknown = values.filter((value) => !promptValues.some((supported) => supported === value));
  if (unknown.length > 0) {
    const supported = promptValues.join(', ');
    throw invalid(
      `The parameter prompt has a value that is not supported: ${printed(unknown)}. Supported: ${supported}.`,
    );
  }
  if (values.includes('none') && values.length > 1)
    throw invalid('The parameter prompt has none beside another value.');
  return values.join(' ');
}

/** Returns `max_age` if it is a whole number of seconds. @throws OAuthError if it is not */
function requireMaxAge(maxAge: string): string {
  if (/^\d{1,15}$/.test(maxAge)) return maxAge;
  throw invalid('The parameter max_age has to be a whole number of seconds.');
}

/** Checks the parameters of PKCE, of which only the method S256 is supported (RFC 7636, section 4.3). */
function checkPkceParameters(value: (name: Parameter) => string | undefined, client: ClientRecord): void {
  const challenge = value('code_challenge');
  const method = value('code_challenge_method');
  if (challenge === undefined) {
    if (method !== undefined)
      throw invalid('The parameter code_challenge_method came without a code_challenge.');
    if (needsPkce(client)) throw invalid('This client has to use PKCE: code_challenge is missing.');
    return;
  }
  if (method !== 'S256') throw invalid('The parameter code_challenge_method has to be S256.');
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge))
    throw invalid('The parameter code_challenge has to be the base64url of a SHA-256.');
}

/**
 * Checks that `dpop_jkt` is the SHA-256 thumbprint of a key (RFC 9449, section 10). @throws OAuthError if it
 * is not
 */
function requireThumbprint(dpopJkt: string | undefined): void {
  if (dpopJkt === undefined || /^[A-Za-z0-9_-]{43}$/.test(dpopJkt)) return;
  throw invalid('The parameter dpop_jkt has to be the base64url of a SHA-256.');
}

/**
 * Removes parameters of an authorization request that are ignored and not even checked for repetition:
 * `claims`, `resource` and `dpop_jkt` if their options are off, and a malformed `acr_values`.
 */
function withoutIgnored(
  parameters: RawParameters<Parameter>,
  { claimsParameter, dpop, resources }: Pick<Options, 'claimsParameter' | 'dpop' | 'resources'>,
): RawParameters<Parameter> {
  const kept = new Map(parameters);
  if (!claimsParameter) kept.delete('claims');
  if (resources === undefined) kept.delete('resource');
  if (!dpop) kept.delete('dpop_jkt');
  const acrValues = readAcrValues(parameters.get('acr_values'));
  if (acrValues === undefined) kept.delete('acr_values');
  else kept.set('acr_values', acrValues);
  return kept;
}

/**
 * Checks the remaining parameters of an authorization request and returns them as a query string in the form
 * that `Engine.authorize` takes.
 * @throws OAuthError if a parameter is invalid, to be sent to the redirect URI
 */
export function normalizedQuery(
  options: Pick<Options, 'scopes' | 'resources' | 'claimsParameter' | 'dpop'>,
  given: RawParameters<Parameter>,
  { client }: RedirectTarget,
): string {
  const parameters = withoutIgnored(given, options);
  const value = (name: Parameter): string | undefined => oneValue(parameters, name);
  for (const name of knownParameters) value(name);
  for (const name of Object.keys(maxBytes) as (keyof typeof maxBytes)[])
    requireShort(maxBytes, name, value(name));
  for (const name of ['request', 'request_uri', 'registration'] as const) {
    if (value(name) !== undefined) throw new OAuthError(`${name}_not_supported`);
  }
  if ((value('response_mode') ?? 'query') !== 'query')
    throw invalid('The only supported response_mode is query.');
  const responseType = value('response_type');
  if (responseType === undefined) throw invalid('The parameter response_type is missing.');
  if (responseType !== 'code') throw new OAuthError('unsupported_response_type');
  const resources = requestedResources(options.resources, value('resource') ?? '');
  const scopes = requestedScopes(options.scopes, value('scope'), client);
  requireGrantable(options.resources, scopes, resources);
  checkPkceParameters(value, client);
  requireThumbprint(value('dpop_jkt'));
  const [prompt, maxAge, claims] = [value('prompt'), value('max_age'), value('claims')];
  if (claims !== undefined) readClaims(claims);
  const normalized: { readonly [name in Parameter]?: string } = {
    scope: scopes.join(' '),
    ...(prompt !== undefined && { prompt: requestedPrompt(prompt) }),
    ...(maxAge !== undefined && { max_age: requireMaxAge(maxAge) }),
  };

  const query = new URLSearchParams();
  for (const name of knownParameters) {
    const text = normalized[name] ?? value(name);
    // A nonce has a meaning only for an ID token. So has `claims`, because userinfo returns all claims
    // anyway.
    const needsIdToken = name === 'nonce' || name === 'claims';
    const meaningless = name === 'response_mode' || (needsIdToken && !scopes.includes('openid'));
    if (text !== undefined && text !== '' && !meaningless && name !== 'resource') query.set(name, text);
  }
  for (const uri of resources) query.append('resource', uri);
  return query.toString();
}
