import type { Options } from '../options/options.ts';
import { urlBelow } from '../text/urls.ts';

/** Paths below `authUrl`. */
export const authPaths = {
  authorize: '/oauth/authorize',
  interaction: '/oauth/interaction/:id',
  // Both are below the page, because the browser sends the cookie of its interaction only there.
  resume: '/oauth/interaction/:id/resume',
  cancel: '/oauth/interaction/:id/cancel',
  logo: '/oauth/client-logo/:id',
  logout: '/oauth/logout',
  confirmLogout: '/oauth/logout/confirm',
  apps: '/account/apps',
  revokeApp: '/account/apps/:clientId/revoke',
  discovery: '/.well-known/openid-configuration',
  oauthDiscovery: '/.well-known/oauth-authorization-server',
  jwks: '/.well-known/jwks.json',
} as const;

/** Paths below `baseUrl`. */
export const apiPaths = {
  token: '/v1/oauth/token',
  userinfo: '/v1/oauth/userinfo',
  revoke: '/v1/oauth/revoke',
  introspect: '/v1/oauth/introspect',
} as const;

/** Name of the cookie that binds a browser to its interaction. */
export const interactionCookie = ({ prefix }: Options): string => `${prefix}_interaction`;

/** As it stands in tokens and metadata: without a trailing slash when it has no path. */
export function issuerOf(options: Options): string {
  const { issuer } = options;
  return issuer.pathname === '/' ? issuer.origin : issuer.href;
}

/** The address of a page below `authUrl`; `id` takes the place of the parameter in its path. */
export function pageUrl(options: Options, page: keyof typeof authPaths, id = ''): string {
  return urlBelow(options.authUrl, authPaths[page].replace(/:\w+/, encodeURIComponent(id)));
}

/**
 * The paths of the metadata with the issuer's path behind the well-known part (RFC 8414, section 3.1), as patterns of routes.
 * Empty if the issuer has no path.
 */
export function wellKnownOfIssuer(options: Options): string[] {
  const issuerPath = options.issuer.pathname.replace(/\/$/, '');
  if (issuerPath === '') return [];
  // Escapes the characters that mean something in a pattern.
  const escaped = issuerPath.replace(/[\\:*?+!(){}[\]]/g, '\\$&');
  return [authPaths.discovery, authPaths.oauthDiscovery].map((path) => path + escaped);
}
