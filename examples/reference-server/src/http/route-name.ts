/** Routes of this server that logs name, without those of Ostiary. The pages of staff are not among them. */
const serverRoutes =
  '/ /login /login.js /sign-out /passport /passport.js /healthz /readyz /doctor /favicon.ico'.split(' ');

/**
 * Makes a function that returns the route of a request, for logs. Paths themselves are never logged, because
 * they may contain ids or, if mistyped, anything.
 */
export function routeNames(routes: readonly string[]): (target: string) => string {
  const known = [...serverRoutes, ...routes].map((name) => ({ name, parts: name.split('/') }));
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
