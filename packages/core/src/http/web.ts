import type { RequestHandler } from './request-handler.ts';
import { Connection, WebRequest, WebResponse } from './web-messages.ts';

/**
 * Information about a request that only the Web API server knows.
 *
 * @example
 * ```ts
 * // Hono
 * ostiary.fetch(c.req.raw, { address: getConnInfo(c).remote.address });
 * ```
 */
export interface FetchOptions {
  /**
   * IP address from which the request came: the client's, or that of a proxy in `trustedProxies`, whose
   * `X-Forwarded-For` is then trusted. If missing or not an IP address, the client's address is unknown: API
   * keys with an allowlist are refused, and rate limits per IP address count all such clients as one.
   */
  readonly address?: string | null | undefined;
}

/**
 * Handles Web API requests, for servers on Node that use them, such as Next.js and Hono. In Bun and Deno only
 * this handler is tested, and not the rest of Ostiary. Passes a request for a path that is not Ostiary's to
 * `next`, or responds with 404 if there is no `next`. Streams bodies both ways.
 *
 * @throws TypeError if the body of a request that is not passed to `next` was read before
 * @throws the abort reason of the request's signal, if it aborts
 * @example
 * ```ts
 * // Hono
 * app.use((c, next) => ostiary.fetch(c.req.raw, { address: getConnInfo(c).remote.address, next }));
 * // Next.js, app/v1/[...path]/route.ts
 * export const GET = (request: Request) => ostiary.fetch(request);
 * export const POST = GET;
 * ```
 */
export interface FetchHandler {
  <Other>(
    request: Request,
    options: FetchOptions & {
      /** Handles a request that is not for Ostiary's routes. The request's body has not been read. */
      readonly next: () => Other | Promise<Other>;
    },
  ): Promise<Response | Other>;
  (request: Request, options?: FetchOptions): Promise<Response>;
}

/** Creates the Web API handler on top of the handler for Node. */
export function createFetchHandler(handler: RequestHandler): FetchHandler {
  return async <Other>(
    request: Request,
    { address, next }: FetchOptions & { readonly next?: () => Other | Promise<Other> } = {},
  ) => {
    const { signal, bodyUsed } = request;
    signal.throwIfAborted();
    const isSecure = request.url.startsWith('https:');
    const connection = new Connection(typeof address === 'string' ? address : undefined, isSecure);
    const incoming = new WebRequest(request, connection);
    const outgoing = new WebResponse(incoming, connection);
    let isOwn = true;
    const pass = () => {
      isOwn = false;
    };
    handler(incoming, outgoing, next && pass);
    if (!isOwn) return (await next?.()) as Other;
    if (bodyUsed) {
      connection.destroy();
      throw new TypeError('the body of the request was read before it came here');
    }
    const abort = () => connection.destroy(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    connection.once('close', () => signal.removeEventListener('abort', abort));
    return await outgoing.response;
  };
}
