import { OAuthError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { ClientRecord, ClientStore } from '../ports/clients.ts';
import { printableUrl } from '../printable.ts';
import type { ScopeCatalog } from '../scope-catalog.ts';
import { needsPkce, requireClient } from './client.ts';
import { isCodeChallenge } from './pkce.ts';
import { isRegisteredRedirectUri } from './redirect-uri.ts';
import { invalid, oneValue, type RawParameters, requireShort } from './request-parameters.ts';

/**
 * The longest values that are kept while the user is asked, in bytes. An ID token repeats the nonce, so that a hint may be
 * longer than one.
 */
const maxBytes = {
  state: 4096,
  nonce: 4096,
  id_token_hint: 8192,
  login_hint: 512,
  ui_locales: 512,
} as const;

/** Every parameter that means something here; all others are ignored (RFC 6749, section 3.1). */
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
  'request',
  'request_uri',
  'registration',
] as const;

type Parameter = (typeof knownParameters)[number];

/** A client and a redirect URI that belong together: from here on errors may be sent there. */
export interface RedirectTarget {
  readonly client: ClientRecord;
  readonly redirectUri: string;
  /** `state` to return; `null` if it was not sent, or was sent twice. */
  readonly state: string | null;
}

/** Who asks and where the answer goes; before this, nothing may be redirected. @throws OAuthError */
export async function findRedirectTarget(
  parameters: RawParameters<Parameter>,
  clients: ClientStore,
  logger: Logger,
): Promise<RedirectTarget> {
  const required = (name: 'client_id' | 'redirect_uri'): string => {
    const value = oneValue(parameters, name);
    if (value) return value;
    throw invalid(`The parameter ${name} is missing.`);
  };
  const clientId = required('client_id');
  const redirectUri = required('redirect_uri');
  const client = await requireClient(clients, clientId);
  if (!isRegisteredRedirectUri(client, redirectUri)) {
    // Whoever sees the page cannot mend it.
    logger.warn(
      { client: clientId, redirectUri: printableUrl(redirectUri) },
      'an authorization request was refused: its redirect_uri is not registered',
    );
    throw new OAuthError('redirect_uri_mismatch');
  }
  return { client, redirectUri, state: parameters.get('state') ?? null };
}

function requestedScopes(catalog: ScopeCatalog, scope: string | undefined, client: ClientRecord): string[] {
  const requested = [...new Set((scope ?? '').split(' ').filter((name) => name !== ''))];
  if (requested.length === 0) throw invalid('The parameter scope is missing.');
  const refused = requested.filter((name) => !catalog.has(name) || !client.allowedScopes.includes(name));
  if (refused.length === 0) return requested;
  // Only characters that RFC 6749, appendix A.7 and A.8, allow in a scope and in a description; the rest is
  // not repeated.
  const named = refused
    .map((name) => (/^[\x21\x23-\x5B\x5D-\x7E]{1,64}$/.test(name) ? name : '(malformed)'))
    .join(' ');
  throw new OAuthError(
    'invalid_scope',
    `Not allowed: ${named.slice(0, 256)}. This client's allowedScopes: ${client.allowedScopes.join(' ')}.`,
  );
}

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
  if (!isCodeChallenge(challenge))
    throw invalid('The parameter code_challenge has to be the base64url of a SHA-256.');
}

/** The rest of the request, checked, in the one form that the engine is given. @throws OAuthError for the redirect URI */
export function normalizedQuery(
  catalog: ScopeCatalog,
  parameters: RawParameters<Parameter>,
  { client }: RedirectTarget,
): string {
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
  const scopes = requestedScopes(catalog, value('scope'), client);
  checkPkceParameters(value, client);

  const query = new URLSearchParams();
  for (const name of knownParameters) {
    const text = name === 'scope' ? scopes.join(' ') : value(name);
    // A nonce only means something beside an ID token.
    const meaningless = name === 'response_mode' || (name === 'nonce' && !scopes.includes('openid'));
    if (text !== undefined && !meaningless) query.set(name, text);
  }
  return query.toString();
}
