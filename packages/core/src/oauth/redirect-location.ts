import { formDecoded, formPairs } from '../http/parameters.ts';

/** Parameters of an authorization response (RFC 6749, sections 4.1.2 and 4.1.2.1; RFC 9207, section 2). */
const responseParameters = ['code', 'state', 'iss', 'error', 'error_description'] as const;

/** Values of the response parameters for the client, in the order in which they are sent. */
type ResponseParameters = Readonly<Record<string, string>>;

/** Decodes the name of a query parameter. A name that is not UTF-8 stays encoded. */
function nameOf(written: string): string {
  try {
    return formDecoded(written);
  } catch {
    return written;
  }
}

/**
 * Returns the URL that sends a response to the client: the registered redirect URI, followed by the response
 * parameters. Leaves out parameters of the registered URI that have a meaning in a response. Everything else
 * of the URI stays byte for byte: its query must be retained (RFC 6749, section 3.1.2), and parsing and
 * rewriting it would change `%20`, `?flag` and bytes that are not UTF-8.
 * @param replaced - names of the parameters that are left out of the registered URI
 */
export function redirectLocation(
  registeredUri: string,
  response: ResponseParameters,
  replaced: readonly string[] = responseParameters,
): string {
  const start = registeredUri.indexOf('?');
  const address = start < 0 ? registeredUri : registeredUri.slice(0, start);
  const query = start < 0 ? '' : registeredUri.slice(start + 1);
  const kept = query.split('&').filter((pair) => {
    const [[name] = ['']] = formPairs(pair);
    return pair !== '' && !replaced.includes(nameOf(name));
  });
  return `${address}?${[...kept, new URLSearchParams(response)].join('&')}`;
}

/**
 * Extracts the response parameters from a URL that oidc-provider built from a registered redirect URI. The
 * response is an error unless it has a new `code`: the registered URI may have parameters `code` and `error` of
 * its own, the latter even with the value of the error.
 */
export function responseOf(location: string, registeredUri: string): ResponseParameters {
  const [given, own] = [new URL(location).searchParams, new URL(registeredUri).searchParams];
  const isError = given.get('code') === own.get('code');
  const names = isError ? ['error', 'error_description', 'state', 'iss'] : ['code', 'state', 'iss'];
  const response: Record<string, string> = {};
  for (const name of names) {
    const value = given.get(name);
    if (value !== null) response[name] = value;
  }
  return response;
}
