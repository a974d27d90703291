import { isBrowser } from '../http/platform.ts';
import { type Connection, checkTransport, checkUrl, refuse, type TransportOptions } from '../options.ts';

/** Options of the OAuth client: URLs of the identity provider, and credentials. */
export interface OstiaryOAuthOptions extends TransportOptions {
  /** URL at which users sign in and consent: https, or http on this machine. */
  readonly authUrl: string;
  /**
   * URL of the provider's API.
   * @defaultValue `authUrl`
   */
  readonly baseUrl?: string | undefined;
  /**
   * Issuer of the provider.
   * @defaultValue `authUrl`
   */
  readonly issuer?: string | undefined;
  readonly clientId: string;
  /** Secret of a web client. Omit it for a public client. */
  readonly clientSecret?: string | undefined;
  /** Redirect URI, exactly as it is registered. */
  readonly redirectUri: string;
  /**
   * Allows a client secret in a browser, where every visitor can read it. Use this only to test a server
   * under jsdom.
   * @defaultValue false
   */
  readonly dangerouslyAllowBrowser?: boolean | undefined;
}

/** Checked options of the OAuth client. */
export interface OAuthSettings {
  readonly authUrl: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly redirectUri: string;
  readonly connection: Connection;
}

/** Normalizes the issuer to the form in callbacks: without a trailing slash if it has no path. */
function issuerOf(value: string): string {
  checkUrl('issuer', value);
  const { pathname, origin, href } = new URL(value);
  return pathname === '/' ? origin : href;
}

function checkRedirectUri(value: unknown): string {
  try {
    if (typeof value === 'string' && !new URL(value).href.includes('#')) return value;
  } catch {
    // An invalid URL is refused below.
  }
  return refuse('redirectUri must be an absolute URL without a fragment');
}

/** Checks the options of the OAuth client and fills in the defaults. @throws TypeError */
export function checkOAuthOptions(options: OstiaryOAuthOptions): OAuthSettings {
  const transport = checkTransport(options, [
    'authUrl',
    'baseUrl',
    'issuer',
    'clientId',
    'clientSecret',
    'redirectUri',
    'dangerouslyAllowBrowser',
  ]);
  const { authUrl, baseUrl = authUrl, issuer = authUrl, clientId, clientSecret, redirectUri } = options;
  for (const [name, value] of Object.entries({ clientId, clientSecret })) {
    if ((name === 'clientId' || value !== undefined) && !/^[!-~]{1,255}$/.test(String(value ?? ''))) {
      refuse(`${name} must be 1 to 255 printable ASCII characters`);
    }
  }
  if (clientSecret !== undefined && isBrowser() && options.dangerouslyAllowBrowser !== true) {
    refuse(
      'in a browser everybody can read the clientSecret: use a public client, or dangerouslyAllowBrowser',
    );
  }
  return {
    authUrl: checkUrl('authUrl', authUrl),
    issuer: issuerOf(issuer),
    clientId,
    clientSecret,
    redirectUri: checkRedirectUri(redirectUri),
    connection: {
      ...transport,
      base: checkUrl('baseUrl', baseUrl),
      headers: {},
      secrets: clientSecret === undefined ? [] : [clientSecret],
    },
  };
}
