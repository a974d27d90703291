import { decodeJwt } from 'jose';
import { OAuthError } from '../errors.ts';
import { formDecoded } from '../http/parameters.ts';
import type { Options } from '../options/parse.ts';

/** Unchecked credentials that a client sent. */
export interface Credentials {
  readonly clientId: string;
  /** Client secret; `null` if none was sent. An empty secret counts as none. */
  readonly secret: string | null;
  /** A JWT that the client signed (RFC 7523); `null` when none was sent. */
  readonly assertion: string | null;
  /**
   * True if the client sent its credentials in the Authorization header, so that the error response can match
   * (RFC 6749, section 5.2).
   */
  readonly basic: boolean;
}

/** Value of the parameter `client_assertion_type` (RFC 7523, section 2.2). */
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/**
 * Maximum length of a client's assertion whose claims are read, in characters. Assertions of libraries have
 * 300 to 800.
 */
export const maxAssertionLength = 8 * 1024;

/**
 * Names of the parameters with which a client authenticates. Those for assertions are read only with the
 * option `privateKeyJwt`.
 */
export const credentialParameters = ({ privateKeyJwt }: Options): readonly string[] => [
  ...['client_id', 'client_secret'],
  ...(privateKeyJwt ? ['client_assertion_type', 'client_assertion'] : []),
];

/** Checks whether a client sent more than its client id: a secret or an assertion. */
export const hasCredential = ({ secret, assertion }: Credentials): boolean =>
  secret !== null || assertion !== null;

/**
 * Checks whether an Authorization header contains client credentials. Ignores a header with another scheme,
 * such as an access token that an HTTP client sends with every request, or a header that a proxy added. Also
 * ignores a Basic header whose name and password are both empty, which libraries write if the values are not
 * set.
 */
function isClientAuthentication(authorization: string): boolean {
  const [scheme = '', encoded = ''] = authorization.split(/ +/);
  return scheme.toLowerCase() === 'basic' && Buffer.from(encoded, 'base64').toString('latin1') !== ':';
}

/**
 * Parses the header `Authorization: Basic`, whose two parts are also form-encoded (RFC 6749, section 2.3.1).
 * `null` for a malformed header.
 */
function basicCredentials(header: string): { readonly clientId: string; readonly secret: string } | null {
  const encoded = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(header)?.[1] ?? '';
  const [id = '', ...secret] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  if (secret.length === 0) return null;
  try {
    return { clientId: formDecoded(id), secret: formDecoded(secret.join(':')) };
  } catch {
    return null;
  }
}

/**
 * Returns the client id that an assertion contains, before the assertion is verified. Empty if it contains
 * none.
 */
function assertedClientId(assertion: string): string {
  if (assertion.length > maxAssertionLength) return '';
  try {
    const { sub } = decodeJwt(assertion);
    return typeof sub === 'string' ? sub : '';
  } catch {
    return '';
  }
}

/**
 * Reads the assertion parameters of a request; `null` if there are none. @throws OAuthError `invalid_request`
 * if only one of them was sent, or the type is unknown
 */
function sentAssertion(parameters: ReadonlyMap<string, string>): string | null {
  const type = parameters.get('client_assertion_type') || null;
  const assertion = parameters.get('client_assertion') || null;
  if (type === null && assertion === null) return null;
  if (assertion === null)
    throw new OAuthError('invalid_request', 'The parameter client_assertion is missing.');
  if (type === assertionType) return assertion;
  throw new OAuthError('invalid_request', `The client_assertion_type has to be ${assertionType}.`);
}

/**
 * Reads client credentials from the Authorization header or the body; `null` for a malformed header.
 * @throws OAuthError `invalid_request` if there are none, there are two, or they disagree
 */
export function sentCredentials(
  authorization: string | undefined,
  parameters: ReadonlyMap<string, string>,
): Credentials | null {
  const bodyId = parameters.get('client_id') || null;
  const bodySecret = parameters.get('client_secret') || null;
  const assertion = sentAssertion(parameters);
  if (assertion !== null) {
    // One method for each request (RFC 6749, section 2.3).
    if (bodySecret !== null || (authorization !== undefined && isClientAuthentication(authorization)))
      throw new OAuthError('invalid_request', 'The client authenticates twice; send the assertion alone.');
    return { clientId: bodyId ?? assertedClientId(assertion), secret: null, assertion, basic: false };
  }
  if (authorization === undefined || (bodyId !== null && !isClientAuthentication(authorization))) {
    if (bodyId === null) throw new OAuthError('invalid_request', 'The parameter client_id is missing.');
    return { clientId: bodyId, secret: bodySecret, assertion: null, basic: false };
  }
  const sent = basicCredentials(authorization);
  if (sent === null) return null;
  if (bodySecret !== null)
    throw new OAuthError('invalid_request', 'The client secret is sent twice; use the header or the body.');
  if (bodyId !== null && bodyId !== sent.clientId)
    throw new OAuthError('invalid_request', 'The header and the body name different clients.');
  return { clientId: sent.clientId, secret: sent.secret || null, assertion: null, basic: true };
}
