import {
  request as connect,
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http';
import { type Duplex, duplexPair, pipeline, Readable, Transform } from 'node:stream';
import type { RequestHandler } from './app.ts';

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
 * @throws what the request's signal was aborted with
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

/**
 * Headers that belong to a connection and not to a message (RFC 9110, section 7.6.1), and headers that are
 * set anew here.
 */
const ofConnection = new Set([
  'connection',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Statuses whose responses have no body (Fetch, section 2.2.3). */
const bodiless = new Set([204, 205, 304]);

function headersOf(request: Request, url: URL): Record<string, string> {
  const headers: Record<string, string> = { host: request.headers.get('host') ?? url.host };
  for (const [name, value] of request.headers) {
    if (!ofConnection.has(name)) headers[name] = value;
  }
  if (request.body === null) delete headers['content-length'];
  // Node frames a DELETE or OPTIONS without either header as one without a body: its body would be another request.
  else if (headers['content-length'] === undefined) headers['transfer-encoding'] = 'chunked';
  return headers;
}

/** Bytes after the announced length would be another request, with headers that the client makes up. */
function exactly(length: number): Transform {
  let left = length;
  const wrong = () => new TypeError('the body does not have the length that Content-Length announces');
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      done(left < 0 ? wrong() : null, chunk);
    },
    flush: (done) => done(left > 0 ? wrong() : null),
  });
}

function responseOf(message: IncomingMessage, method: string): Response {
  const headers = new Headers();
  for (let index = 0; index + 1 < message.rawHeaders.length; index += 2) {
    const [name = '', value = ''] = message.rawHeaders.slice(index, index + 2);
    if (!ofConnection.has(name.toLowerCase())) headers.append(name, value);
  }
  const status = message.statusCode ?? 500;
  const isEmpty = method === 'HEAD' || bodiless.has(status);
  if (isEmpty) message.resume();
  const strategy = new ByteLengthQueuingStrategy({ highWaterMark: message.readableHighWaterMark });
  const body = isEmpty ? null : (Readable.toWeb(message, { strategy }) as ReadableStream<Uint8Array>);
  return new Response(body, { status, statusText: message.statusMessage ?? '', headers });
}

/** Error that a server's socket reports when the client disconnects. */
const gone = () => Object.assign(new Error('the client has closed the connection'), { code: 'ECONNRESET' });

/** A connection between two ends in memory that, like a socket, ends at both when it ends at one. */
function connection(address: string | null): { readonly near: Duplex; readonly far: Duplex } {
  const [near, far] = duplexPair();
  near.once('close', () => far.destroy(far.writableFinished ? undefined : gone()));
  far.once('close', () => near.destroy());
  Object.defineProperty(far, 'remoteAddress', { value: address ?? undefined });
  return { near, far };
}

/**
 * Builds the handler of the Web API on the one for Node. Each request goes over a connection in memory through Node's own
 * HTTP server and client, so that framing, limits, back-pressure and broken connections are those of the network.
 */
export function createFetchHandler(handler: RequestHandler): FetchHandler {
  /** Callback of each connection, which handles its request. */
  const arrivals = new WeakMap<object, RequestListener>();
  let server: Server | null = null;

  return <Other>(
    request: Request,
    options: FetchOptions & { readonly next?: () => Other | Promise<Other> } = {},
  ) =>
    new Promise<Response | Other>((resolve, reject) => {
      const { signal, method } = request;
      signal.throwIfAborted();
      const { address, next } = options;
      const { near, far } = connection(typeof address === 'string' ? address : null);
      const url = new URL(request.url);
      const headers = headersOf(request, url);
      const path = `${url.pathname}${url.search}`;
      const outgoing = connect({ createConnection: () => near, method, path, headers, setHost: false });
      let incoming: IncomingMessage | null = null;

      const fail = (reason: unknown): void => {
        reject(reason);
        incoming?.destroy(reason instanceof Error ? reason : undefined);
        outgoing.destroy();
      };
      const abort = () => fail(signal.reason);
      const send = async (): Promise<void> => {
        if (request.bodyUsed) throw new TypeError('the body of the request was read before it came here');
        if (request.body === null) return void outgoing.end();
        const announced = headers['content-length'];
        const body = Readable.fromWeb(request.body as Parameters<typeof Readable.fromWeb>[0]);
        const counted = announced === undefined ? null : exactly(Number(announced));
        for (const stream of [body, counted]) {
          // After the response, the rest of the request is not needed.
          stream?.once('error', (error) => incoming === null && fail(error));
        }
        pipeline(counted === null ? [body, outgoing] : [body, counted, outgoing], () => {});
      };

      arrivals.set(far, (arrived, response) => {
        let isOwn = true;
        const pass =
          next &&
          (() => {
            isOwn = false;
            outgoing.destroy();
            resolve((async () => await next())());
          });
        handler(arrived, response, pass);
        // Not now: the server is in the middle of reading, and bytes of the body would get in between.
        if (isOwn) process.nextTick(() => send().catch(fail));
      });
      signal.addEventListener('abort', abort, { once: true });
      outgoing.once('close', () => signal.removeEventListener('abort', abort));
      outgoing.on('error', reject);
      outgoing.once('response', (message) => {
        incoming = message;
        // The response is complete: no more of the body is taken.
        message.once('end', () => outgoing.writableFinished || outgoing.destroy());
        resolve(responseOf(message, method));
      });
      server ??= createServer((arrived, response) => arrivals.get(arrived.socket)?.(arrived, response));
      server.emit('connection', far);
      outgoing.flushHeaders();
    });
}
