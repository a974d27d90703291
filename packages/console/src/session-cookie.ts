import type { ConsoleBackend, ConsoleRequest } from '@ostiary/core/console';
import { paths } from './paths.ts';

/**
 * Creates the functions that set and read the console's session cookie, which scripts, other sites and other
 * paths cannot access.
 */
export function sessionCookie(backend: ConsoleBackend) {
  const { protocol, pathname } = new URL(backend.url(paths.home));
  const isSecure = protocol === 'https:';
  const name = `${isSecure ? '__Secure-' : ''}${backend.prefix}_sandbox`;
  const attributes = `Path=${pathname}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return {
    /**
     * Reads the values of all cookies with the session cookie's name: the browser may also send one that was
     * set for another path.
     */
    values: ({ raw }: ConsoleRequest): string[] =>
      (raw.headers.cookie ?? '')
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(`${name}=`))
        .map((pair) => pair.slice(name.length + 1)),
    /** Values of `Set-Cookie` that set and remove the session cookie. */
    keep: (session: string, seconds: number) => `${name}=${session}; Max-Age=${seconds}; ${attributes}`,
    forget: `${name}=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; ${attributes}`,
  };
}

/** Functions that set and read the console's session cookie; see {@link sessionCookie}. */
export type SessionCookie = ReturnType<typeof sessionCookie>;
