import {
  IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/**
 * Header fields that belong to a connection (RFC 9110, section 7.6.1), and fields that this adapter sets
 * itself. None of them is copied between Node and the Web API.
 */
const connectionFields: ReadonlySet<string> = new Set([
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

/** HTTP statuses whose responses have no body (Fetch, section 2.2.3). */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** Bytes of a response that are buffered for a slow reader before the writing handler has to wait. */
const highWaterMark = 64 * 1024;

/** Creates the error of a connection that ended early, as Node's sockets emit it. */
const connectionClosed = () =>
  Object.assign(new Error('the client has closed the connection'), { code: 'ECONNRESET' });

/**
 * Stands in for the socket of {@link WebRequest} and {@link WebResponse}. It has the address from which the
 * request came, and closes when the response has ended or the client has gone. No bytes pass through it.
 */
export class Connection extends Duplex {
  readonly remoteAddress: string | undefined;
  /** As on a TLS socket: tells frameworks that the request came over https, so that they set `Secure` cookies. */
  readonly encrypted: boolean;

  constructor(address: string | undefined, encrypted: boolean) {
    super();
    this.remoteAddress = address;
    this.encrypted = encrypted;
    // The error reaches the caller through the response. Without a listener it would end the process.
    this.on('error', () => {});
  }

  // Functions of a socket that host applications call, also through `request.setTimeout` and
  // `response.setTimeout`. There is no connection to which they could apply.
  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  override _read(): void {}

  override _write(_chunk: unknown, _encoding: BufferEncoding, done: () => void): void {
    done();
  }
}

/**
 * Copies methods of a class to an object as own properties, because Express replaces the prototypes of
 * requests and responses.
 */
function bindMethods<Name extends PropertyKey>(
  object: { readonly [Method in Name]: (...args: never[]) => unknown },
  names: readonly Name[],
): void {
  for (const name of names)
    Object.defineProperty(object, name, {
      value: object[name].bind(object),
      configurable: true,
      writable: true,
    });
}

/** Node request made from a Web API `Request`. Reads its body only as the handler reads. */
export class WebRequest extends IncomingMessage {
  readonly #body: ReadableStream<Uint8Array> | null;
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  /**
   * Bytes of the request body that are announced but have not arrived yet; `null` if no length was announced.
   */
  #expected: number | null;

  constructor(request: Request, connection: Connection) {
    super(connection as unknown as Socket);
    const url = new URL(request.url);
    const headers: Record<string, string> = { host: request.headers.get('host') ?? url.host };
    for (const [name, value] of request.headers) {
      if (!connectionFields.has(name)) headers[name] = value;
    }
    if (request.body === null) delete headers['content-length'];
    else if (headers['content-length'] === undefined) headers['transfer-encoding'] = 'chunked';
    this.method = request.method;
    this.url = `${url.pathname}${url.search}`;
    this.httpVersion = '1.1';
    this.httpVersionMajor = 1;
    this.httpVersionMinor = 1;
    this.headers = headers;
    this.rawHeaders = Object.entries(headers).flat();
    this.#body = request.body;
    this.#expected = headers['content-length'] === undefined ? null : Number(headers['content-length']);
    this.on('error', () => {});
    bindMethods(this, ['_read', '_destroy']);
    connection.once('close', () => this.destroy());
  }

  override _read(): void {
    this.#pull().catch((error: Error) => this.destroy(error));
  }

  /** Reads the next chunk of the body. @throws the error of the body, or a TypeError if its length differs from the announced one */
  async #pull(): Promise<void> {
    this.#reader ??= this.#body?.getReader() ?? null;
    const chunk = (await this.#reader?.read())?.value;
    if (this.#expected !== null) {
      this.#expected -= chunk?.length ?? 0;
      if (this.#expected < 0 || (chunk === undefined && this.#expected > 0))
        throw new TypeError('the body does not have the length that Content-Length announces');
    }
    this.complete = chunk === undefined;
    this.push(chunk ?? null);
    // Ask for the next chunk here, because Node's own requests are pushed data as it arrives and do not ask
    // for more while they flow.
    if (!this.complete && this.readableFlowing) this.read(0);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const cancelled = this.#reader === null ? this.#body?.cancel() : this.#reader.cancel();
    cancelled?.catch(() => undefined);
    super._destroy(error, done);
  }
}

type Callback = (error?: Error | null) => void;

/**
 * Node response that is passed on as a Web API `Response`. Its body is produced no faster than it is read.
 */
export class WebResponse extends ServerResponse {
  /**
   * Promise that resolves with the response when its headers are written, and rejects if the connection
   * closes before that.
   */
  readonly response: Promise<Response>;
  readonly #resolve: (response: Response) => void;
  readonly #connection: Connection;
  #body: ReadableStreamDefaultController<Uint8Array> | null = null;
  #isBegun = false;

  constructor(request: WebRequest, connection: Connection) {
    super(request);
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    this.response = promise;
    // Prevent an unhandled rejection: a caller that gave up no longer waits for the response.
    promise.catch(() => undefined);
    this.#resolve = resolve;
    this.#connection = connection;
    bindMethods(this, ['writeHead', 'flushHeaders', 'write', 'end']);
    // Defined here because the class cannot have an accessor for what the compiler knows as a property.
    Object.defineProperty(this, 'writableNeedDrain', { get: () => this.#needsDrain() });
    this.assignSocket(connection as unknown as Socket);
    this.once('finish', () => connection.destroy());
    connection.once('close', () => {
      if (this.writableEnded) return;
      const error = connection.errored ?? connectionClosed();
      reject(error);
      this.#body?.error(error);
    });
  }

  override writeHead(
    status: number,
    message?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
    given?: OutgoingHttpHeaders | OutgoingHttpHeader[],
  ): this {
    const headers = typeof message === 'string' ? given : message;
    const pairs = headerPairs(headers ?? {});
    for (const [name, value] of pairs) this.setHeader(name, value);
    // A list may have a name twice, such as `Set-Cookie`.
    if (Array.isArray(headers)) for (const [name] of pairs) this.setHeader(name, valuesOf(pairs, name));
    if (typeof message === 'string') this.statusMessage = message;
    this.statusCode = status;
    this.#begin();
    return this;
  }

  // As in Node, through `writeHead`: middleware such as cookie-session replaces that method (package `on-headers`),
  // in order to set headers at the last moment.
  override flushHeaders(): void {
    if (!this.#isBegun) this.writeHead(this.statusCode);
  }

  #begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    const headers = new Headers();
    for (const [name, value] of headerPairs(this.getHeaders())) {
      if (connectionFields.has(name)) continue;
      for (const one of Array.isArray(value) ? value : [value]) headers.append(name, String(one));
    }
    super.writeHead(this.statusCode);
    const { statusCode: status, statusMessage: statusText } = this;
    const body = this.#hasBody() ? this.#stream() : null;
    this.#resolve(new Response(body, { status, statusText, headers }));
  }

  override write(chunk: string | Uint8Array, encoding?: BufferEncoding | Callback, done?: Callback): boolean {
    this.flushHeaders();
    if (this.#body !== null && !this.#connection.destroyed) this.#body.enqueue(bytesOf(chunk, encoding));
    const callback = typeof encoding === 'function' ? encoding : done;
    if (callback !== undefined) process.nextTick(callback);
    return !this.#needsDrain();
  }

  override end(
    chunk?: string | Uint8Array | Callback | null,
    encoding?: BufferEncoding | Callback,
    done?: Callback,
  ): this {
    const callback = [chunk, encoding, done].find((given) => typeof given === 'function');
    const bytes = typeof chunk === 'function' || !chunk ? null : bytesOf(chunk, encoding);
    if (!this.#isBegun && this.#hasBody() && !this.hasHeader('Content-Length'))
      this.setHeader('Content-Length', bytes?.length ?? 0);
    if (bytes === null) this.flushHeaders();
    else this.write(bytes);
    if (!this.#connection.destroyed && !this.writableEnded) this.#body?.close();
    return super.end(callback);
  }

  #needsDrain(): boolean {
    return !this.writableEnded && this.#body !== null && (this.#body.desiredSize ?? 1) <= 0;
  }

  #hasBody(): boolean {
    return this.req.method !== 'HEAD' && !bodiless.has(this.statusCode);
  }

  #stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#body = controller;
        },
        pull: () => void this.emit('drain'),
        // Destroy with an error, as a socket does: the source of the body then ends without an error in the
        // log.
        cancel: () => void this.#connection.destroy(connectionClosed()),
      },
      new ByteLengthQueuingStrategy({ highWaterMark }),
    );
  }
}

function headerPairs(
  headers: OutgoingHttpHeaders | OutgoingHttpHeader[],
): [string, string | number | string[]][] {
  if (Array.isArray(headers)) {
    return headers.flatMap((name, index) =>
      index % 2 === 0 ? [[String(name), headers[index + 1] ?? '']] : [],
    );
  }
  return Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}

/** Returns the value of a header in a list of headers, or all of its values if it has several. */
function valuesOf(pairs: ReturnType<typeof headerPairs>, name: string): string | number | string[] {
  const values = pairs.filter(([other]) => other.toLowerCase() === name.toLowerCase());
  const [first] = values;
  return values.length === 1 && first !== undefined
    ? first[1]
    : values.flatMap(([, value]) => value).map(String);
}

function bytesOf(chunk: string | Uint8Array, encoding: BufferEncoding | Callback | undefined): Uint8Array {
  if (typeof chunk !== 'string') return chunk;
  return Buffer.from(chunk, typeof encoding === 'string' ? encoding : 'utf8');
}
