/** Every path of this server, those that Ostiary answers included, with what a log line calls it. */
const routes: readonly { readonly pattern: RegExp; readonly name: string }[] = [
  ...[
    '/',
    '/login',
    '/sign-out',
    '/passport',
    '/passport.js',
    '/healthz',
    '/readyz',
    '/doctor',
    '/favicon.ico',
    '/account/apps',
    '/oauth/authorize',
    '/v1/oauth/token',
    '/v1/oauth/userinfo',
    '/v1/oauth/revoke',
    '/v1/openapi.json',
    '/v1/partner/verify',
    '/v1/partner/payments',
    '/v1/partner/reconciliation',
    '/v1/partner/webhooks',
    '/v1/partner/events',
    '/v1/partner/sandbox/passports',
    '/v1/partner/sandbox/events',
    '/sandbox',
    '/sandbox/sign-in',
    '/sandbox/sign-out',
    '/sandbox/trigger',
    '/sandbox/endpoints',
    '/.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server',
    '/.well-known/jwks.json',
  ].map((path) => ({ pattern: new RegExp(`^${path.replaceAll('.', '\\.')}$`), name: path })),
  { pattern: /^\/oauth\/authorize\/[^/]+$/, name: '/oauth/authorize/:id' },
  { pattern: /^\/oauth\/interaction\/[^/]+$/, name: '/oauth/interaction/:id' },
  { pattern: /^\/oauth\/interaction\/[^/]+\/[a-z]+$/, name: '/oauth/interaction/:id/…' },
  { pattern: /^\/account\/apps\/[^/]+\/revoke$/, name: '/account/apps/:clientId/revoke' },
  { pattern: /^\/v1\/partner\/payments\/[^/]+$/, name: '/v1/partner/payments/:id' },
  { pattern: /^\/v1\/partner\/webhooks\/[^/]+$/, name: '/v1/partner/webhooks/:id' },
  { pattern: /^\/v1\/partner\/webhooks\/[^/]+\/deliveries$/, name: '/v1/partner/webhooks/:id/deliveries' },
  { pattern: /^\/v1\/partner\/webhooks\/[^/]+\/recover$/, name: '/v1/partner/webhooks/:id/recover' },
  { pattern: /^\/v1\/partner\/events\/[^/]+\/redeliver$/, name: '/v1/partner/events/:id/redeliver' },
  { pattern: /^\/v1\/partner\/users\/phone\/[^/]+$/, name: '/v1/partner/users/phone/:phone' },
  { pattern: /^\/v1\/partner\/users\/[^/]+$/, name: '/v1/partner/users/:kid' },
  { pattern: /^\/sandbox\/events\/[^/]+$/, name: '/sandbox/events/:id' },
  { pattern: /^\/sandbox\/events\/[^/]+\/redeliver$/, name: '/sandbox/events/:id/redeliver' },
  { pattern: /^\/sandbox\/endpoints\/[^/]+$/, name: '/sandbox/endpoints/:id' },
];

/**
 * The name of the route of a request, for logs. A path may carry an id, and a mistyped one anything at all, so a path
 * is never written down as it came.
 */
export function routeName(target: string): string {
  const path = target.split(/[?#]/, 1)[0] ?? '';
  return routes.find(({ pattern }) => pattern.test(path))?.name ?? '(no route)';
}
