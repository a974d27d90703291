import type { ConsoleDesk, ConsoleRequest } from '@ostiary/core/console';
import { paths } from './paths.ts';

/** The cookie that holds the secret of a session. */
export interface SessionCookie {
  /** Every value that a browser sent under this name: a cookie of another path may stand beside ours. */
  values(request: ConsoleRequest): string[];
  /** What `Set-Cookie` says to keep a session. */
  keep(session: string, seconds: number): string;
  /** What `Set-Cookie` says to forget it. */
  readonly forget: string;
}

/** See {@link SessionCookie}. Out of reach of scripts, other sites and other paths. */
export function sessionCookie(desk: ConsoleDesk): SessionCookie {
  const { protocol, pathname } = new URL(desk.url(paths.home));
  const isSecure = protocol === 'https:';
  const name = `${isSecure ? '__Secure-' : ''}${desk.prefix}_sandbox`;
  const attributes = `Path=${pathname}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return {
    values: ({ raw }) =>
      (raw.headers.cookie ?? '')
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(`${name}=`))
        .map((pair) => pair.slice(name.length + 1)),
    keep: (session, seconds) => `${name}=${session}; Max-Age=${seconds}; ${attributes}`,
    forget: `${name}=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; ${attributes}`,
  };
}
