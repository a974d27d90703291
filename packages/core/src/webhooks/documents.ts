import type { IncomingHttpHeaders } from 'node:http';
import type { SecureContextOptions } from 'node:tls';
import { createSecureContext } from 'node:tls';
import type { Dispatcher } from 'undici';
import { isPublicAddress } from './addresses.ts';
import { errorClassOf } from './attempt-errors.ts';
import { Connection } from './connections.ts';
import { dial } from './dial.ts';
import { defaultResolve, parseTarget, type Resolve, type TargetPolicy, targetAddresses } from './targets.ts';

/**
 * Result of fetching a document: its text with the headers of the response, or the reason why there is no
 * text.
 */
export type ReadResult =
  | { readonly text: string; readonly headers: IncomingHttpHeaders }
  // Public text, which reveals no address and nothing about this server's network.
  | { readonly problem: string };

export interface DocumentReaderOptions {
  readonly policy: TargetPolicy;
  /** Function that resolves host names to IP addresses. @defaultValue `defaultResolve(policy)` */
  readonly resolve?: Resolve | undefined;
  /** Maximum size of a document, in bytes. */
  readonly maxBytes: number;
  /** Accepted media types, in lower case. @defaultValue `['application/json']` */
  readonly mediaTypes?: readonly string[];
  /** Timeout for reading a document, including the DNS lookup, in milliseconds. */
  readonly timeoutMs: number;
  /** Extra TLS options, such as `ca` for a private certificate authority. */
  readonly connect?: SecureContextOptions;
}

/** Media types that are accepted for a document if the caller names none. */
const json: readonly string[] = ['application/json'];

/** Checks whether a Content-Type, with or without parameters, is one of the given media types. */
const isOneOf = (mediaTypes: readonly string[], type: string): boolean =>
  mediaTypes.includes((type.split(';')[0] ?? '').trimEnd().toLowerCase());

const userAgent = 'Ostiary-Documents/1';

/** Collects the body of a response that must be a small UTF-8 document of an accepted media type. */
class Download implements Dispatcher.DispatchHandler {
  readonly #maxBytes: number;
  readonly #mediaTypes: readonly string[];
  readonly #settle: (result: ReadResult) => void;
  #headers: IncomingHttpHeaders = {};
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(
    { maxBytes, mediaTypes = json }: Pick<DocumentReaderOptions, 'maxBytes' | 'mediaTypes'>,
    settle: (result: ReadResult) => void,
  ) {
    this.#maxBytes = maxBytes;
    this.#mediaTypes = mediaTypes;
    this.#settle = settle;
  }

  /** Method that undici's interface requires. undici calls it before the request is written. */
  onRequestStart(): void {}

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status >= 100 && status < 200 && status !== 101) return;
    this.#headers = headers;
    const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers;
    if (status >= 300 && status < 400)
      this.#refuse(controller, 'the server redirects, which is not followed');
    else if (status !== 200) this.#refuse(controller, `the server answered with status ${status}`);
    else if (!isOneOf(this.#mediaTypes, type))
      this.#refuse(controller, `its Content-Type is not ${this.#mediaTypes.join(' or ')}`);
    else if (encoding !== 'identity') this.#refuse(controller, 'it is compressed');
    else if (Number(headers['content-length'] ?? 0) > this.#maxBytes) this.#refuseSize(controller);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size > this.#maxBytes) this.#refuseSize(controller);
  }

  onResponseEnd(): void {
    try {
      const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(this.#chunks));
      this.#settle({ text, headers: this.#headers });
    } catch {
      this.#settle({ problem: 'it is not UTF-8' });
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle({ problem: `it could not be read (${errorClassOf(error)})` });
  }

  #refuseSize(controller: Dispatcher.DispatchController): void {
    this.#refuse(controller, `it is larger than ${this.#maxBytes} bytes`);
  }

  #refuse(controller: Dispatcher.DispatchController, problem: string): void {
    this.#settle({ problem });
    controller.abort(new Error(problem));
  }
}

/**
 * Creates the function that fetches small documents, JSON by default, from URLs that strangers chose. It
 * resolves the name once, checks every address, connects to a checked address and verifies the certificate.
 * It does not follow redirects, use proxies or decompress. Refused URLs and failed requests do not reject:
 * they are a `problem` of the result.
 */
export function createDocumentReader(options: DocumentReaderOptions): (url: string) => Promise<ReadResult> {
  const { policy, timeoutMs, mediaTypes = json } = options;
  const resolve = options.resolve ?? defaultResolve(policy);
  const isAllowed = policy.allowPrivate ? () => true : isPublicAddress;

  /** Sends the request for a document over its own connection, which is closed afterwards. */
  async function download(url: URL, addresses: readonly string[], signal: AbortSignal): Promise<ReadResult> {
    const { promise, resolve: settle } = Promise.withResolvers<ReadResult>();
    const secureContext = () => createSecureContext(options.connect);
    const connection = new Connection(
      { url, addresses, foundAt: 0 },
      {
        open: (found, dialling) =>
          dial(found.url, found.addresses, {
            ...{ isAllowed, secureContext },
            signal: AbortSignal.any([signal, dialling]),
          }),
        ...{ idleMs: 1_000, maxIdle: 0, now: () => 0 },
      },
      () => undefined,
    );
    const onTimeout = () => settle({ problem: 'it took too long' });
    signal.addEventListener('abort', onTimeout);
    const accept = mediaTypes.join(', ');
    const headers = ['user-agent', userAgent, 'accept', accept, 'accept-encoding', 'identity'];
    connection.dispatch(
      { method: 'GET', path: `${url.pathname}${url.search}`, headers },
      new Download(options, settle),
    );
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', onTimeout);
      await connection.destroy();
    }
  }

  /** Resolves with the addresses of a URL's host, or with `null` on timeout. */
  async function lookUp(url: URL, signal: AbortSignal): Promise<readonly string[] | null> {
    const { promise, resolve: settle, reject } = Promise.withResolvers<readonly string[] | null>();
    signal.addEventListener('abort', () => settle(null), { once: true });
    targetAddresses(url, policy, resolve).then(settle, reject);
    return promise;
  }

  return async (text) => {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), timeoutMs);
    try {
      const url = parseTarget(text, policy);
      const addresses = await lookUp(url, deadline.signal);
      if (addresses === null) return { problem: 'it took too long' };
      return await download(url, addresses, deadline.signal);
    } catch (error) {
      if (errorClassOf(error) !== 'target_refused') throw error;
      return { problem: error instanceof Error ? error.message : 'its URL is refused' };
    } finally {
      clearTimeout(timer);
    }
  };
}
