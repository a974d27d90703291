import { urlBelow } from '../context.ts';
import type { Options } from '../options.ts';

/** Paths below `authUrl`. */
export const authPaths = {
  authorize: '/oauth/authorize',
  resume: '/oauth/authorize/:id',
  interaction: '/oauth/interaction/:id',
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
} as const;

/**
 * The issuer identifier as it stands in tokens and metadata: without a trailing slash when it has no path.
 */
export function issuerOf(options: Options): string {
  const { issuer } = options;
  return issuer.pathname === '/' ? issuer.origin : issuer.href;
}

/** The page on which the user answers one authorization request. */
export function interactionPage(options: Options, id: string): string {
  return urlBelow(options.authUrl, authPaths.interaction.replace(':id', encodeURIComponent(id)));
}

/** Where the browser goes on with an authorization request that was answered. */
export function resumePage(options: Options, id: string): string {
  return urlBelow(options.authUrl, authPaths.resume.replace(':id', encodeURIComponent(id)));
}

/** The page on which users see and revoke the apps that they gave access to. */
export function appsPage(options: Options): string {
  return urlBelow(options.authUrl, authPaths.apps);
}

/** Where the removal of one app is posted. */
export function revokeAppAction(options: Options, clientId: string): string {
  return urlBelow(options.authUrl, authPaths.revokeApp.replace(':clientId', encodeURIComponent(clientId)));
}
