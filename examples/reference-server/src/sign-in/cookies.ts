import type { IncomingMessage } from 'node:http';

/** The cookies of this server. */
export interface Cookies {
  /** Holds the session id. */
  readonly session: Cookie;
  /** Holds what form tokens are tied to; there before anybody is signed in. */
  readonly form: Cookie;
}

/** One cookie: reads it, and says what `Set-Cookie` sets or removes it. */
export interface Cookie {
  readonly name: string;
  read(request: IncomingMessage): string | undefined;
  set(value: string): string;
  readonly remove: string;
}

function cookie(name: string, secure: boolean): Cookie {
  // `__Host-` makes the browser refuse a cookie of this name that a sibling domain or a plain connection sets.
  const fullName = secure ? `__Host-${name}` : name;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  return {
    name: fullName,
    read(request) {
      const values = (request.headers.cookie ?? '')
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(`${fullName}=`))
        .map((pair) => pair.slice(fullName.length + 1));
      // Two of one name: somebody planted one, and nothing tells which.
      return values.length === 1 ? values[0] : undefined;
    },
    set: (value) => `${fullName}=${value}; ${attributes}`,
    remove: `${fullName}=; ${attributes}; Max-Age=0`,
  };
}

/** Ends with the browser; the session's own times are kept in the database. */
export function createCookies(authUrl: string): Cookies {
  const secure = authUrl.startsWith('https:');
  return { session: cookie('ostiary_session', secure), form: cookie('ostiary_form', secure) };
}
