import type { IncomingMessage } from 'node:http';

/** A request to an API, of Node (Express, Koa, Fastify) or of the Web API (Hono, Next.js). */
export type ResourceRequest = IncomingMessage | Request;

/**
 * A complete response of the check. Send it with `response.writeHead(status, headers).end(body)` in Node, or
 * as `new Response(body, answer)` in the Web API.
 */
export interface ResourceAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: string | null;
}

/** Checks whether a request is a `Request` of the Web API, in any implementation. */
const isOfWeb = (request: ResourceRequest): request is Request => typeof request.headers.get === 'function';

/** Returns a header of a request; `null` if it is missing. */
export function headerOf(request: ResourceRequest, name: 'authorization' | 'access-control-request-headers') {
  if (isOfWeb(request)) return request.headers.get(name);
  const value = request.headers[name];
  return typeof value === 'string' ? value : null;
}

/**
 * Returns the path of a request as the client sent it. Express removes the mount point from `url`, so
 * `originalUrl` is used there.
 */
export function pathOf(request: ResourceRequest): string {
  if (isOfWeb(request)) return new URL(request.url).pathname;
  const original: unknown = 'originalUrl' in request ? request.originalUrl : undefined;
  const target = typeof original === 'string' ? original : (request.url ?? '');
  return target.replace(/\?.*$/s, '');
}

/**
 * Returns the access token of a request (RFC 6750, section 2.1); empty if the header is malformed. `null` if
 * the request has no token, as with a header of another scheme.
 * @param takesDpop - true if the scheme `DPoP` is for this API too (RFC 9449, section 7.1)
 */
export function accessTokenOf(request: ResourceRequest, takesDpop: boolean): string | null {
  const header = headerOf(request, 'authorization') ?? '';
  const [, scheme = '', credentials = ''] = /^(\S+)(.*)$/s.exec(header) ?? [];
  const isOurs = /^bearer$/i.test(scheme) || (takesDpop && /^dpop$/i.test(scheme));
  if (!isOurs) return null;
  return /^ +([\w.~+/-]+=*) *$/.exec(credentials)?.[1] ?? '';
}
