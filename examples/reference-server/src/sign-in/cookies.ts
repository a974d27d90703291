import type { IncomingMessage } from 'node:http';
import { knownLifetimeMs } from './known-browsers.ts';

/** The cookies of this server. */
export type Cookies = ReturnType<typeof createCookies>;

/** One cookie: reads it, and says what `Set-Cookie` sets or removes it. */
function cookie(name: string, secure: boolean, maxAgeSeconds: number | null = null) {
  // `__Host-` makes the browser refuse a cookie of this name that a sibling domain or a plain connection sets.
  const fullName = secure ? `__Host-${name}` : name;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  return {
    read(request: IncomingMessage): string | undefined {
      const values = (request.headers.cookie ?? '')
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(`${fullName}=`))
        .map((pair) => pair.slice(fullName.length + 1));
      // Two of one name: somebody planted one, and nothing tells which.
      return values.length === 1 ? values[0] : undefined;
    },
    set: (value: string): string =>
      `${fullName}=${value}; ${attributes}${maxAgeSeconds === null ? '' : `; Max-Age=${maxAgeSeconds}`}`,
    remove: `${fullName}=; ${attributes}; Max-Age=0`,
  };
}

/** They end with the browser, but for the last one; a session's own times are kept in the database. */
export function createCookies(authUrl: string) {
  const secure = authUrl.startsWith('https:');
  return {
    /** Holds the session id. */
    session: cookie('ostiary_session', secure),
    /** Holds what form tokens are tied to; there before anybody is signed in. */
    form: cookie('ostiary_form', secure),
    /** Says who has signed in with this browser before; see `known-browsers.ts`. */
    known: cookie('ostiary_known', secure, knownLifetimeMs / 1_000),
  };
}
