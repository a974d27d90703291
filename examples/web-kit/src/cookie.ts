import type { IncomingMessage } from 'node:http';

/** Reads one cookie, and builds the `Set-Cookie` headers that set and remove it. */
export function cookie(name: string, secure: boolean, maxAgeSeconds: number | null = null) {
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
      // Ignore two cookies of the same name: one was planted, and they cannot be distinguished.
      return values.length === 1 ? values[0] : undefined;
    },
    set: (value: string): string =>
      `${fullName}=${value}; ${attributes}${maxAgeSeconds === null ? '' : `; Max-Age=${maxAgeSeconds}`}`,
    remove: `${fullName}=; ${attributes}; Max-Age=0`,
  };
}
