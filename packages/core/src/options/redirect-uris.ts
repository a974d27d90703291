import { fieldProblems } from '../text/field-problems.ts';
import { isLoopback } from './option-values.ts';

const maxLength = 2048;
const maxUris = 50;

/**
 * Matches a private-use scheme that is based on a domain name, such as `com.example.app` (RFC 8252, section
 * 7.1).
 */
const privateUseScheme = /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/;

/** Matches URI schemes that a browser or an operating system handles by itself, without an app. */
const reservedScheme =
  /^(about|blob|chrome|chrome-extension|content|data|file|filesystem|ftp|intent|javascript|jar|mailto|moz-extension|resource|sms|tel|urn|vbscript|view-source|ws|wss):$/;

/** Properties of a client that decide which redirect URIs it may have. */
export interface RedirectRules {
  /** True for a client without a secret, such as an app on the user's device. */
  readonly isPublic: boolean;
  /**
   * True if the administrator marked the client as `firstParty`, which allows a private-use scheme without a
   * dot.
   */
  readonly firstParty: boolean;
}

/**
 * Matches a URI that has only allowed characters (RFC 3986): no spaces, controls or double quotes, and only
 * ASCII.
 */
const uriCharacters = /^[A-Za-z0-9\-._~:/?[\]@!$&'()+,;=%]*$/;

function problemOf(uri: string, { isPublic, firstParty }: RedirectRules): string | null {
  if (uri.length > maxLength) return `is longer than ${maxLength} characters`;
  if (uri.includes('*')) return fieldProblems.uri_wildcard;
  if (uri.includes('#')) return fieldProblems.uri_fragment;
  if (!uriCharacters.test(uri) || /%(?![0-9A-Fa-f]{2})/.test(uri)) return fieldProblems.uri_characters;
  if (!URL.canParse(uri)) return fieldProblems.uri_relative;
  const url = new URL(uri);
  if (url.username !== '' || url.password !== '' || /^[a-z][a-z0-9+.-]*:\/\/[^/?]*@/i.test(uri))
    return fieldProblems.uri_user;
  if (url.protocol === 'https:' || url.protocol === 'http:') {
    if (!/^https?:\/\/[^/]/i.test(uri)) return fieldProblems.uri_host;
    if (url.protocol === 'http:' && !isLoopback(url)) return fieldProblems.uri_http;
    return null;
  }
  if (reservedScheme.test(url.protocol)) return fieldProblems.uri_scheme;
  if (!privateUseScheme.test(url.protocol) && !firstParty) return fieldProblems.uri_scheme_dot;
  return isPublic ? null : fieldProblems.uri_scheme_public;
}

/** Checks the redirect URIs of a client. @throws TypeError that names the first refused URI, with the reason */
export function checkRedirectUris(
  uris: readonly string[],
  rules: RedirectRules,
  name = 'redirectUris',
): void {
  if (uris.length === 0) throw new TypeError(`${name}: ${fieldProblems.uris_none}`);
  if (uris.length > maxUris) throw new TypeError(`${name}: takes ${maxUris} at most`);
  if (new Set(uris).size !== uris.length) throw new TypeError(`${name}: ${fieldProblems.uris_twice}`);
  for (const [index, uri] of uris.entries()) {
    const problem = problemOf(uri, rules);
    if (problem !== null)
      throw new TypeError(`${name}.${index}: ${JSON.stringify(uri.slice(0, 200))} ${problem}`);
  }
}
