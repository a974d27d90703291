import { isLoopback } from '../option-values.ts';

const maxLength = 2048;
const maxUris = 50;

/** A scheme that belongs to a domain name, such as `com.example.app` (RFC 8252, section 7.1). */
const privateUseScheme = /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/;

/** Characters of a URI (RFC 3986): no spaces, controls, quotes, nor anything beyond ASCII. */
const uriCharacters = /^[A-Za-z0-9\-._~:/?[\]@!$&'()+,;=%]*$/;

function problemOf(uri: string, isPublic: boolean): string | null {
  if (uri.length > maxLength) return `is longer than ${maxLength} characters`;
  if (uri.includes('*')) return 'has a wildcard';
  if (uri.includes('#')) return 'has a fragment';
  if (!uriCharacters.test(uri) || /%(?![0-9A-Fa-f]{2})/.test(uri))
    return 'has characters that a URI cannot have';
  if (!URL.canParse(uri)) return 'is not an absolute URI';
  const url = new URL(uri);
  if (url.username !== '' || url.password !== '' || /^[a-z][a-z0-9+.-]*:\/\/[^/?]*@/i.test(uri))
    return 'has user information';
  if (url.protocol === 'https:' || url.protocol === 'http:') {
    if (!/^https?:\/\/[^/]/i.test(uri)) return 'has no host';
    if (url.protocol === 'http:' && !isLoopback(url))
      return 'is http, which is allowed for loopback addresses only';
    return null;
  }
  if (!privateUseScheme.test(url.protocol)) return 'has a scheme that is not allowed';
  return isPublic ? null : 'has a private-use scheme, which is allowed for public clients only';
}

/** @throws TypeError that names the first URI which cannot be registered, and why */
export function checkRedirectUris(uris: readonly string[], isPublic: boolean, name = 'redirectUris'): void {
  if (uris.length === 0) throw new TypeError(`${name}: needs at least one`);
  if (uris.length > maxUris) throw new TypeError(`${name}: takes ${maxUris} at most`);
  if (new Set(uris).size !== uris.length) throw new TypeError(`${name}: names one twice`);
  for (const [index, uri] of uris.entries()) {
    const problem = problemOf(uri, isPublic);
    if (problem !== null)
      throw new TypeError(`${name}.${index}: ${JSON.stringify(uri.slice(0, 200))} ${problem}`);
  }
}
