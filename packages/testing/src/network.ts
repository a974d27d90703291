import { setTimeout as pause } from 'node:timers/promises';
import type { FetchHandler } from '@ostiary/core';
import { oauthErrors, partnerErrors } from '@ostiary/core';
import type { RequestEffect } from './faults.ts';
import type { Plans } from './plans.ts';

/**
 * Type of the standard `fetch` function.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const fetchOfTheKit: Fetch = kit.fetch;
 * await fetchOfTheKit(`${kit.authUrl}/.well-known/openid-configuration`);
 * ```
 */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * Function that passes a request for a URL outside the service to the code of the test; returns `null` if no
 * code handles that URL.
 */
type Receive = (request: Request) => Promise<Response> | null;

/** Functions and settings that the test kit's network needs. */
export interface NetworkParts {
  readonly origins: readonly string[];
  readonly engine: FetchHandler;
  readonly faults: Plans<Request, RequestEffect>;
  readonly receive: Receive;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Function that is called before each request that this network passes to the service. */
  readonly arrives: () => void;
  /** Function that is called after each request to the service, also if it failed. */
  readonly answered: () => void;
  /** Signal that aborts when the test kit is closed. */
  readonly closed: AbortSignal;
}

/** Creates the error that `fetch` throws when a connection breaks. */
function reset(): TypeError {
  const cause = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
  return new TypeError('fetch failed', { cause });
}

const realTime = (ms: number, signal: AbortSignal): Promise<void> =>
  pause(ms, undefined, { signal }).catch(() => signal.throwIfAborted());

/** Creates the response of the service to too many requests: that of the partner API, or of the OAuth endpoints. */
function tooMany({ url }: Request, retryAfterSeconds: number): Response {
  const requestId = crypto.randomUUID();
  const isOfPartners = new URL(url).pathname.includes('/v1/partner/');
  const { status, text } = isOfPartners ? partnerErrors.rate_limit_exceeded : oauthErrors.slow_down;
  const body = isOfPartners
    ? { code: 'rate_limit_exceeded', message: text, requestId }
    : { error: 'slow_down', error_description: text };
  return Response.json(body, {
    status,
    headers: {
      'cache-control': 'no-store',
      'retry-after': String(retryAfterSeconds),
      'x-request-id': requestId,
    },
  });
}

/** Sends half of a response, and then nothing until the client gives up. */
async function stalled(response: Response, signal: AbortSignal): Promise<Response> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes.subarray(0, Math.floor(bytes.length / 2)));
      signal.addEventListener('abort', () => controller.error(signal.reason), { once: true });
    },
  });
  return new Response(body, response);
}

/**
 * Creates a request as `fetch` does, with the content length if it is known. A `Request` object alone does
 * not show the length.
 */
function requestOf(input: string | URL | Request, init: RequestInit | undefined): Request {
  const request = new Request(input, init);
  const { body } = init ?? {};
  const text = body instanceof URLSearchParams ? String(body) : body;
  const length =
    typeof text === 'string' ? Buffer.byteLength(text) : ArrayBuffer.isView(text) ? text.byteLength : null;
  if (length !== null) request.headers.set('content-length', String(length));
  return request;
}

const redirects = new Set([301, 302, 303, 307, 308]);

/** Names of headers that describe a body. A redirect to a request without a body removes them. */
const ofBody = ['content-encoding', 'content-language', 'content-length', 'content-location', 'content-type'];

/** Names of headers with credentials. A redirect to another origin removes them. */
const ofOrigin = ['authorization', 'cookie', 'host', 'proxy-authorization'];

/** Creates the request that follows a redirect, with the changes that `fetch` makes to the first request. */
function redirected(
  from: Request,
  { status, location, body }: { status: number; location: string; body: ArrayBuffer | 'stream' | null },
): Request {
  const url = new URL(location, from.url);
  const becomesGet =
    status === 303
      ? from.method !== 'GET' && from.method !== 'HEAD'
      : from.method === 'POST' && (status === 301 || status === 302);
  if (!becomesGet && body === 'stream') throw new TypeError('fetch failed: a stream cannot be sent again');
  const headers = new Headers(from.headers);
  if (becomesGet) for (const name of ofBody) headers.delete(name);
  if (url.origin !== new URL(from.url).origin) for (const name of ofOrigin) headers.delete(name);
  return new Request(url, {
    method: becomesGet ? 'GET' : from.method,
    headers,
    body: becomesGet || body === 'stream' ? null : body,
    signal: from.signal,
  });
}

/**
 * Follows redirects as `fetch` does. 303, and 301 and 302 after POST, lead to a GET request; other redirects
 * repeat the method and the body.
 */
async function followed(
  first: Request,
  isStream: boolean,
  answer: (request: Request) => Promise<Response>,
): Promise<Response> {
  // Copy the body before the request is answered, because it can be read only once.
  const isCopied = first.redirect === 'follow' && first.body !== null && !isStream;
  const body = isStream ? 'stream' : isCopied ? await first.clone().arrayBuffer() : null;
  let request = first;
  for (let hops = 0; hops <= 20; hops += 1) {
    const response = await answer(request);
    const location = response.headers.get('location');
    const isRedirect = redirects.has(response.status) && location !== null;
    if (isRedirect && request.redirect === 'error') throw new TypeError('fetch failed: unexpected redirect');
    if (!isRedirect || request.redirect === 'manual') {
      Object.defineProperty(response, 'url', { value: request.url });
      return response;
    }
    request = redirected(request, {
      status: response.status,
      location,
      body: request.body === null ? null : body,
    });
  }
  throw new TypeError('fetch failed: too many redirects');
}

/** Waits for a response, but no longer than until a signal aborts. @throws the reason of the signal */
function unlessAborted(answering: Promise<Response>, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    answering.then(resolve, reject);
  });
}

/** Creates the network between clients and the service, in the memory of the test. */
export function createNetwork(parts: NetworkParts) {
  const { engine, faults, origins, closed } = parts;
  const underWay = new Set<Promise<Response>>();

  async function execute(request: Request, address: string): Promise<Response> {
    parts.arrives();
    const answering = engine(request, { address });
    underWay.add(answering);
    return await answering.finally(() => underWay.delete(answering));
  }

  async function withFaults(request: Request, address: string): Promise<Response> {
    const fault = faults.take(request);
    const executed = () => execute(request, address);
    const signal = () => AbortSignal.any([request.signal, closed]);
    switch (fault?.kind) {
      case undefined:
        return executed();
      case 'refuse':
        throw reset();
      case 'drop answer': {
        await (await executed()).arrayBuffer();
        throw reset();
      }
      case 'rate limit':
        return tooMany(request, fault.retryAfterSeconds);
      case 'slow': {
        const response = await executed();
        await (fault.clock === 'real' ? realTime : parts.sleep)(fault.ms, signal());
        return response;
      }
      case 'stall body':
        return stalled(await executed(), signal());
      case 'status':
        return new Response(fault.body === '' ? null : fault.body, fault);
    }
  }

  async function answer(request: Request, address: string): Promise<Response> {
    closed.throwIfAborted();
    request.signal.throwIfAborted();
    const signal = AbortSignal.any([request.signal, closed]);
    const { origin } = new URL(request.url);
    if (!origins.includes(origin)) {
      const received = parts.receive(request);
      if (received !== null) return await unlessAborted(received, signal);
      throw new TypeError('fetch failed', {
        cause: new Error(
          `there is no receiver for ${origin}: this kit is ${origins.join(' and ')}; kit.webhooks.receive() adds others`,
        ),
      });
    }
    try {
      return await unlessAborted(withFaults(request, address), signal);
    } finally {
      parts.answered();
    }
  }

  return {
    /** Returns a `fetch` for a client IP address. Planned faults apply to its requests to the service. */
    from: (address: string): Fetch =>
      async function fetch(input, init) {
        const isStream = init?.body instanceof ReadableStream;
        return await followed(requestOf(input, init), isStream, (request) => answer(request, address));
      },
    /** Resolves when the service is handling no request. */
    async idle(): Promise<void> {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
  };
}
