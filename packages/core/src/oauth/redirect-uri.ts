import { isLoopback } from '../options/option-values.ts';
import type { ClientRecord } from '../ports/clients.ts';

type RedirectSettings = Pick<ClientRecord, 'loopbackPorts' | 'redirectUris' | 'postLogoutRedirectUris'>;

const httpUri = /^(http:\/\/(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+))(?::\d{1,5})?((?:[/?].*)?)$/i;

/** Returns an http loopback URI without its port; `null` for any other URI. */
function withoutLoopbackPort(uri: string): string | null {
  const [, host, rest] = httpUri.exec(uri) ?? [];
  if (host === undefined || !URL.canParse(uri) || !isLoopback(new URL(uri))) return null;
  return `${host}${rest ?? ''}`;
}

function matchesOne(registered: readonly string[], uri: string, anyPort: boolean): boolean {
  if (registered.includes(uri)) return true;
  const portless = anyPort ? withoutLoopbackPort(uri) : null;
  return portless !== null && registered.some((one) => withoutLoopbackPort(one) === portless);
}

/**
 * Checks whether a redirect URI is registered for a client. The strings must be equal, except for the port of
 * a loopback address if the client has `loopbackPorts: 'any'` (RFC 8252, section 7.3).
 */
export function isRegisteredRedirectUri(client: RedirectSettings, uri: string): boolean {
  return matchesOne(client.redirectUris, uri, client.loopbackPorts === 'any');
}

/**
 * Checks whether a post-logout redirect URI is registered for a client, by the rules of {@link
 * isRegisteredRedirectUri}.
 */
export function isRegisteredPostLogoutUri(client: RedirectSettings, uri: string): boolean {
  return matchesOne(client.postLogoutRedirectUris ?? [], uri, client.loopbackPorts === 'any');
}

/**
 * Returns the origin of a redirect URI as browsers send it in the header `Origin` (RFC 6454); `null` if it
 * has none. Web views send the origin of a private-use scheme with a host, such as `capacitor://localhost`,
 * which `URL` does not support.
 */
function originOf({ origin, protocol, host }: URL): string | null {
  if (origin !== 'null') return origin;
  return host === '' ? null : `${protocol}//${host}`;
}

/**
 * Checks whether an origin belongs to a client: whether a redirect URI of the client has that origin. The
 * port may differ for a loopback address if the client has `loopbackPorts: 'any'`.
 */
export function isClientOrigin(client: RedirectSettings, origin: string): boolean {
  const origins = client.redirectUris.map((uri) => originOf(new URL(uri))).filter((one) => one !== null);
  return matchesOne(origins, origin, client.loopbackPorts === 'any');
}

/**
 * Returns the form in which the origin of a loopback redirect URI is stored for a client with `loopbackPorts:
 * 'any'`; `null` for an origin that is not a loopback address.
 */
export function anyPortOrigin(origin: string): string | null {
  const portless = withoutLoopbackPort(origin);
  return portless === null ? null : `${portless}:*`;
}
