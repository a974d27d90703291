import { isLoopback } from '../options/option-values.ts';
import type { ClientRecord } from '../ports/clients.ts';

type RedirectSettings = Pick<ClientRecord, 'loopbackPorts' | 'redirectUris' | 'postLogoutRedirectUris'>;

const httpUri = /^(http:\/\/(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+))(?::\d{1,5})?((?:[/?].*)?)$/i;

/** Removes the port from an http URI of a loopback address; `null` for any other URI. */
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
 * Checks a redirect URI against those of a client: equal strings, except for the port of a loopback address where the client has
 * `loopbackPorts: 'any'` (RFC 8252, section 7.3).
 */
export function isRegisteredRedirectUri(client: RedirectSettings, uri: string): boolean {
  return matchesOne(client.redirectUris, uri, client.loopbackPorts === 'any');
}

/** Checks an address for after a sign-out in the same way as {@link isRegisteredRedirectUri}. */
export function isRegisteredPostLogoutUri(client: RedirectSettings, uri: string): boolean {
  return matchesOne(client.postLogoutRedirectUris ?? [], uri, client.loopbackPorts === 'any');
}

/**
 * Returns the origin of a page as it is sent to servers (RFC 6454); `null` if the page has none. Web views of apps send that of a
 * private-use scheme with a host, such as `capacitor://localhost`, for which `URL` has no origin.
 */
function originOf({ origin, protocol, host }: URL): string | null {
  if (origin !== 'null') return origin;
  return host === '' ? null : `${protocol}//${host}`;
}

/**
 * Checks whether a browser's page of this origin belongs to a client: the origin of one of its redirect URIs, on any port where
 * that is a loopback address and the client has `loopbackPorts: 'any'`.
 */
export function isClientOrigin(client: RedirectSettings, origin: string): boolean {
  const origins = client.redirectUris.map((uri) => originOf(new URL(uri))).filter((one) => one !== null);
  return matchesOne(origins, origin, client.loopbackPorts === 'any');
}

/** The origin under which a client with `loopbackPorts: 'any'` is stored; `null` for an origin that is no loopback address. */
export function anyPortOrigin(origin: string): string | null {
  const portless = withoutLoopbackPort(origin);
  return portless === null ? null : `${portless}:*`;
}
