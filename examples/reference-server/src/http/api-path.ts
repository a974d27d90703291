import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Checks whether a request is for the API, in any spelling of its path: in another case, percent-encoded, or
 * with extra dots and slashes. Most such paths do not exist, and the API must say so in JSON.
 */
export function isApiPath(target: string): boolean {
  // An absolute request target names a host too (RFC 9112, section 3.2.2).
  const path = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').replace(/[?#].*/s, '');
  let text = path;
  try {
    text = decodeURIComponent(path);
  } catch {
    // Malformed percent-encoding: use the path as it is.
  }
  const plain = new URL(`http://host/${text}`).pathname;
  return [path, plain].some((spelling) => /^\/+v1(\/|$)/i.test(spelling));
}

/**
 * Responds to API requests with 503 in JSON, because this process only works in the background. A 404 would
 * mean that the requested object does not exist.
 */
export function refuseApi(request: IncomingMessage, response: ServerResponse): void {
  const requestId = randomUUID();
  const message = 'This process serves no requests of the API.';
  const isPartner = /^\/+v1\/+partner(\/|$)/i.test(request.url ?? '/');
  const body = isPartner
    ? { code: 'internal_error', message, requestId }
    : { error: 'temporarily_unavailable', error_description: message };
  response
    .writeHead(503, {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      'Retry-After': '1',
      'X-Request-Id': requestId,
    })
    .end(JSON.stringify(body));
}
