import type { Options } from '../options/parse.ts';
import { urlBelow } from '../text/urls.ts';

/** Paths below `authUrl`: of pages, their form actions and public documents. */
export const authPaths = {
  authorize: '/oauth/authorize',
  interaction: '/oauth/interaction/:id',
  // Resuming and cancelling have paths below the interaction page, because the browser sends the
  // interaction's cookie only there.
  resume: '/oauth/interaction/:id/resume',
  cancel: '/oauth/interaction/:id/cancel',
  logo: '/oauth/client-logo/:id',
  logout: '/oauth/logout',
  confirmLogout: '/oauth/logout/confirm',
  apps: '/account/apps',
  revokeApp: '/account/apps/:clientId/revoke',
  restoreApp: '/account/apps/:clientId/restore',
  discovery: '/.well-known/openid-configuration',
  oauthDiscovery: '/.well-known/oauth-authorization-server',
  jwks: '/.well-known/jwks.json',
} as const;

/** Paths of the API endpoints below `baseUrl`. */
export const apiPaths = {
  token: '/v1/oauth/token',
  par: '/v1/oauth/par',
  userinfo: '/v1/oauth/userinfo',
  revoke: '/v1/oauth/revoke',
  introspect: '/v1/oauth/introspect',
} as const;

/** Name of the cookie that binds a browser to its interaction. */
export const interactionCookie = ({ prefix }: Options): string => `${prefix}_interaction`;

/** Returns the URL for one of {@link authPaths}. `id` replaces the parameter in the path. */
export function pageUrl(options: Options, page: keyof typeof authPaths, id = ''): string {
  return urlBelow(options.authUrl, authPaths[page].replace(/:\w+/, encodeURIComponent(id)));
}

/**
 * Returns the text that stands for a client in the path of a URL: the client id itself, or an encoded form if
 * the id has slashes, because some proxies and frameworks decode or refuse slashes in a path segment.
 */
export const clientPathName = (clientId: string): string =>
  clientId.includes('/') ? `~${Buffer.from(clientId).toString('base64url')}` : clientId;

/** Returns the client id for which a segment of a URL's path stands; see {@link clientPathName}. */
export const clientIdInPath = (name: string): string =>
  name.startsWith('~') ? Buffer.from(name.slice(1), 'base64url').toString() : name;

/**
 * Returns the paths of the metadata documents if the issuer has a path: the well-known part followed by the
 * issuer's path (RFC 8414, section 3.1). Empty if the issuer has no path.
 */
export function wellKnownOfIssuer({ issuer }: Options): string[] {
  const issuerPath = new URL(issuer).pathname.replace(/\/$/, '');
  if (issuerPath === '') return [];
  // Escape characters with a meaning in route patterns.
  const escaped = issuerPath.replace(/[\\:*?+!(){}[\]]/g, '\\$&');
  return [authPaths.discovery, authPaths.oauthDiscovery].map((path) => path + escaped);
}
