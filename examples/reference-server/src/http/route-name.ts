/** Every path of this server, those that Ostiary answers included, as a log line calls it. */
const routes = `
/ /login /sign-out /passport /passport.js /healthz /readyz /doctor /favicon.ico
/account/apps /account/apps/:clientId/revoke
/oauth/authorize /oauth/authorize/:id /oauth/interaction/:id /oauth/interaction/:id/:step
/.well-known/openid-configuration /.well-known/oauth-authorization-server /.well-known/jwks.json
/v1/oauth/token /v1/oauth/userinfo /v1/oauth/revoke /v1/openapi.json
/v1/partner/whoami /v1/partner/verify /v1/partner/payments /v1/partner/payments/:id /v1/partner/reconciliation
/v1/partner/users/:kid /v1/partner/users/phone/:phone
/v1/partner/webhooks /v1/partner/webhooks/:id /v1/partner/webhooks/:id/deliveries /v1/partner/webhooks/:id/recover
/v1/partner/events /v1/partner/events/:id/redeliver
/v1/partner/sandbox/passports /v1/partner/sandbox/events
/sandbox /sandbox/sign-in /sandbox/sign-out /sandbox/trigger
/sandbox/endpoints /sandbox/endpoints/:id /sandbox/events/:id /sandbox/events/:id/redeliver
`
  .trim()
  .split(/\s+/)
  .map((name) => ({ name, parts: name.split('/') }));

/**
 * The name of the route of a request, for logs. A path may carry an id, and a mistyped one anything at all, so a path
 * is never written down as it came.
 */
export function routeName(target: string): string {
  const given = (target.split(/[?#]/, 1)[0] ?? '').split('/');
  const found = routes.find(
    ({ parts }) =>
      parts.length === given.length &&
      parts.every((part, at) => (part.startsWith(':') ? given[at] !== '' : part === given[at])),
  );
  return found?.name ?? '(no route)';
}
