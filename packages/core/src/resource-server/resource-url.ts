import { isLoopback } from '../options/option-values.ts';

/**
 * Parses the URI of a protected resource, whose metadata document is on the URI's host.
 * @throws TypeError if the URI cannot have such a document (RFC 9728, section 1.2)
 */
export function resourceUrl(uri: string): URL {
  const url = URL.canParse(uri) ? new URL(uri) : null;
  const isServed = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url));
  if (url === null || !isServed || /[?#]/.test(uri) || url.username !== '' || url.password !== '')
    throw new TypeError(
      'protectedResource: resource: must be https, or http on a loopback address, without a query, a fragment and user information',
    );
  return url;
}
