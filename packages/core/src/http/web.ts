import type { RequestHandler } from './app.ts';
import { Connection, WebRequest, WebResponse } from './web-messages.ts';

/**
 * Information about a request that only the server of the Web API has.
 *
 * @example
 * ```ts
 * // Bun
 * Bun.serve({ fetch: (request, server) => ostiary.fetch(request, { address: server.requestIP(request)?.address }) });
 * ```
 */
export interface FetchOptions {
  /**
   * The address that the request came from, as a socket would tell it: a client's, or that of a proxy among
   * `trustedProxies`, whose `X-Forwarded-For` is then believed. Without it, or when it is no IP address, the client's
   * address is unknown: API keys with an allowlist are refused, and limits count all such clients as one.
   */
  readonly address?: string | null | undefined;
}

/**
 * Handles requests of the Web API with responses of the Web API, for servers that use it: Next.js, Hono, Bun,
 * Deno. Requests that are not Ostiary's go to `next`, or get a 404 if there is none. Bodies are streamed both
 * ways.
 *
 * @throws TypeError when the body of a request that is Ostiary's was read before
 * @throws the reason with which the request's signal was aborted
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
      /** Answers a request that is not Ostiary's; its body is untouched. */
      readonly next: () => Other | Promise<Other>;
    },
  ): Promise<Response | Other>;
  (request: Request, options?: FetchOptions): Promise<Response>;
}

/** Builds the handler of the Web API on the handler for Node. */
export function createFetchHandler(handler: RequestHandler): FetchHandler {
  return async <Other>(
    request: Request,
    { address, next }: FetchOptions & { readonly next?: () => Other | Promise<Other> } = {},
  ) => {
    const { signal, bodyUsed } = request;
    signal.throwIfAborted();
    const connection = new Connection(typeof address === 'string' ? address : undefined);
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
