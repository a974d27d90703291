import type { ConsoleRequest } from '@ostiary/core/console';
import { roots } from './paths.ts';
import type { PageBackend } from './visit.ts';

/**
 * Creates the functions that set and read the session cookie of the console or the portal for live data. Scripts,
 * other sites and other paths cannot access the cookie.
 */
export function sessionCookie(backend: PageBackend, mode: keyof typeof roots) {
  const { protocol, pathname } = new URL(backend.url(roots[mode]));
  const isSecure = protocol === 'https:';
  const name = `${isSecure ? '__Secure-' : ''}${backend.prefix}_${mode === 'live' ? 'portal' : 'sandbox'}`;
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
