import type { IncomingMessage } from 'node:http';

/** Makes functions that read a cookie, and make the `Set-Cookie` headers that set and remove it. */
export function cookie(name: string, secure: boolean, maxAgeSeconds: number | null = null) {
  // Browsers refuse a cookie with `__Host-` that a sibling domain or a plain connection sets.
  const fullName = secure ? `__Host-${name}` : name;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  return {
    read(request: IncomingMessage): string | undefined {
      const values = (request.headers.cookie ?? '')
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(`${fullName}=`))
        .map((pair) => pair.slice(fullName.length + 1));
      // Ignore the cookie if it came twice: one was planted, and they cannot be told apart.
      return values.length === 1 ? values[0] : undefined;
    },
    set: (value: string): string =>
      `${fullName}=${value}; ${attributes}${maxAgeSeconds === null ? '' : `; Max-Age=${maxAgeSeconds}`}`,
    remove: `${fullName}=; ${attributes}; Max-Age=0`,
  };
}
