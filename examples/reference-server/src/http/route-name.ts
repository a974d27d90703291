/** Routes of this server beside those of Ostiary. */
const ownRoutes =
  '/ /login /login.js /sign-out /passport /passport.js /healthz /readyz /doctor /favicon.ico'.split(' ');

/**
 * Names the route of a request, for logs. A path may carry an id, and a mistyped one anything at all, so a path is never
 * written down as it came.
 */
export function routeNames(routes: readonly string[]): (target: string) => string {
  const known = [...ownRoutes, ...routes].map((name) => ({ name, parts: name.split('/') }));
  return (target) => {
    const given = (target.split(/[?#]/, 1)[0] ?? '').split('/');
    const found = known.find(
      ({ parts }) =>
        parts.length === given.length &&
        parts.every((part, at) => (part.startsWith(':') ? given[at] !== '' : part === given[at])),
    );
    return found?.name ?? '(no route)';
  };
}
