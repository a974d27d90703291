import type { IncomingMessage } from 'node:http';

/** Returns the path of a request target. Drops the host of an absolute target (RFC 9112, section 3.2.2). */
function pathOf(target: string): string {
  const end = target.indexOf('?');
  const path = end < 0 ? target : target.slice(0, end);
  if (path.startsWith('/')) return path;
  return URL.canParse(path) ? new URL(path).pathname : '/';
}

/**
 * Returns the request target before a framework such as Express removed the path at which the handler is
 * mounted.
 */
function originalTarget(request: IncomingMessage): string | undefined {
  return 'originalUrl' in request && typeof request.originalUrl === 'string'
    ? request.originalUrl
    : undefined;
}

/**
 * Lists the paths under which a route may know the request, the likeliest first: without the path of a
 * configured URL, as sent, and as a framework left it. A proxy may have removed the configured path already,
 * and the rest may begin like it.
 * @param prefixes - paths of the configured URLs, without a trailing slash, the longest first
 */
export function pathsOf(request: IncomingMessage, prefixes: readonly string[]): readonly string[] {
  const left = request.url ?? '/';
  const paths = new Set<string>();
  for (const path of [pathOf(originalTarget(request) ?? left), pathOf(left)]) {
    for (const prefix of prefixes) {
      if (path.startsWith(`${prefix}/`)) paths.add(path.slice(prefix.length));
    }
    paths.add(path);
  }
  return [...paths];
}
