import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { OAuthError } from '../errors.ts';

/** Largest request body that is no upload of a file, in bytes. Longer bodies are refused with 413. */
const maxBodyBytes = 64 * 1024;

/** Time in which a body must arrive, in milliseconds. A slower body is refused with 408. */
const bodyDeadlineMs = 10_000;

/** Creates the error for a request body that cannot be read. */
export const invalidBody = (description: string, status = 400): OAuthError =>
  new OAuthError('invalid_request', description, {
    status,
    headers: status === 408 ? { Connection: 'close' } : {},
  });

const tooLong = (limit: number) => invalidBody(`The body may have ${limit} bytes at most.`, 413);

/** Maximum number of bytes of a refused body that are read before its connection is closed. */
const maxDiscardedBytes = 16 * 1024 * 1024;

/**
 * Time without further data after which the response to a refused body is sent, in milliseconds. Also the time
 * that a client has to read the response to a body beyond {@link maxDiscardedBytes} before it is disconnected.
 */
const silenceMs = 500;

/** Time after which a connection with a refused body is closed at the latest, in milliseconds. */
const deadlineMs = 10_000;

/** Requests whose body is being discarded, with the promise that resolves when the response may be sent. */
const discarded = new WeakMap<IncomingMessage, Promise<void>>();

/** Checks whether the connection closes after the response, as with HTTP/1.0 and `Connection: close`. */
const endsConnection = ({ headers, httpVersionMajor, httpVersionMinor }: IncomingMessage): boolean =>
  (httpVersionMajor === 1 && httpVersionMinor === 0) || /\bclose\b/i.test(headers.connection ?? '');

/**
 * Reads and discards the rest of a refused body, so that the response reaches the client. Closing a
 * connection on which the client or a proxy still writes would reset it, which loses the response and makes a
 * proxy respond with 502 (RFC 9112, section 9.6). After 16 MiB or ten seconds the connection is closed.
 *
 * Resolves when the response may be sent: at once if the connection stays open after the response, or more than
 * 16 MiB are announced, otherwise when nothing more arrives.
 */
export async function discardBody(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return;
  // A Web API `Request` needs no draining: no connection is closed after its response.
  if (!(request.socket instanceof Socket)) return void request.on('error', () => {});
  const quiet = discarded.get(request) ?? discard(request);
  discarded.set(request, quiet);
  const isHopeless = Number(request.headers['content-length'] ?? 0) > maxDiscardedBytes;
  if (endsConnection(request) && !isHopeless) await quiet;
}

/**
 * Reads and discards a refused body. Resolves when the body has ended, exceeds the limit for discarded bytes,
 * or has been silent for a while.
 */
function discard(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let left = maxDiscardedBytes;
    const deadline = setTimeout(() => request.destroy(), deadlineMs).unref();
    const silence = setTimeout(resolve, silenceMs).unref();
    const end = (): void => {
      clearTimeout(deadline);
      clearTimeout(silence);
      resolve();
    };
    request
      .on('data', (chunk: Uint8Array) => {
        left -= chunk.length;
        silence.refresh();
        if (left >= 0) return;
        end();
        // Give the client time to read the response before the connection is reset.
        request.pause();
        setTimeout(() => request.destroy(), silenceMs).unref();
      })
      // An aborted request emits an error, which without a listener would end the process.
      .on('error', () => {})
      .once('end', end)
      .once('close', end)
      .resume();
  });
}

/** Refuses a request whose `Content-Length` exceeds the limit. @throws OAuthError with status 413 */
export async function refuseLongBody(request: IncomingMessage): Promise<void> {
  if (Number(request.headers['content-length'] ?? 0) <= maxBodyBytes) return;
  await discardBody(request);
  throw tooLong(maxBodyBytes);
}

/** Checks whether an HTTP/2 request ended with its headers; `undefined` for a request of HTTP/1. */
function endsWithHeaders(request: IncomingMessage): boolean | undefined {
  const stream: unknown = 'stream' in request ? request.stream : undefined;
  if (typeof stream !== 'object' || stream === null || !('endAfterHeaders' in stream)) return undefined;
  return stream.endAfterHeaders === true;
}

/**
 * Checks whether a body follows the headers. In HTTP/1 the headers announce it (RFC 9112, section 6.3). In
 * HTTP/2 only the framing shows it (RFC 9113, section 8.1), and `Content-Length` may be absent.
 */
export function hasBody(request: IncomingMessage): boolean {
  const endsEarly = endsWithHeaders(request);
  if (endsEarly !== undefined) return !endsEarly;
  const { headers } = request;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Checks whether the whole body of a request is already buffered, as most small bodies are. Reading it at
 * once is much quicker than listening for data.
 */
function hasArrived(request: IncomingMessage, limit: number): boolean {
  const { complete, destroyed, readableFlowing, readableEncoding, readableLength } = request;
  // A host may have begun to read, or changed what the stream yields.
  const untouched = readableFlowing === null && readableEncoding === null;
  return complete && !destroyed && untouched && readableLength > 0 && readableLength <= limit;
}

function collectBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;

    const finish = (error: OAuthError | null): void => {
      clearTimeout(deadline);
      request.off('data', onData).off('end', onEnd).off('error', onAbort).off('close', onAbort);
      if (error === null) {
        resolve(Buffer.concat(chunks));
        return;
      }
      // An aborted request emits an error, which without a listener would end the process.
      request.on('error', () => {});
      // After a timeout do not wait for the rest of the body: the connection is closed.
      if (error.status === 408) reject(error);
      else discardBody(request).then(() => reject(error), reject);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) finish(tooLong(limit));
      else chunks.push(chunk);
    };
    const onEnd = (): void => finish(null);
    const onAbort = (): void => finish(invalidBody('The body ended early.'));
    const deadline = setTimeout(() => finish(invalidBody('The body took too long.', 408)), bodyDeadlineMs);

    if (request.readableEnded || request.destroyed)
      return finish(invalidBody('The body was read before it came here; body parsers have to come after.'));
    if (Number(request.headers['content-length'] ?? 0) > limit) return finish(tooLong(limit));
    request.on('data', onData).on('end', onEnd).on('error', onAbort).on('close', onAbort);
  });
}

/**
 * Returns the raw bytes of a body that a body parser of the host application has read, if the parser kept
 * them as `rawBody` (NestJS and others do); `null` otherwise.
 */
function keptByHost(request: IncomingMessage, limit: number): Buffer | null {
  const kept: unknown = request.readableEnded && 'rawBody' in request ? request.rawBody : null;
  if (!(kept instanceof Uint8Array)) return null;
  if (kept.length > limit) throw tooLong(limit);
  return Buffer.from(kept.buffer, kept.byteOffset, kept.length);
}

/**
 * Returns the parsed body if a body parser of the host application has read the request without keeping its
 * bytes; `undefined` if none has.
 */
export function parsedByHost(request: IncomingMessage): unknown {
  if (keptByHost(request, maxBodyBytes) !== null) return undefined;
  return request.readableEnded && 'body' in request ? request.body : undefined;
}

/**
 * Reads the body of a request, which a body parser of the host application may have read before.
 * @throws OAuthError `invalid_request`; with status 413 for a long body, 408 for a slow one
 */
export async function readBody(request: IncomingMessage, limit = maxBodyBytes): Promise<Buffer> {
  return (
    keptByHost(request, limit) ?? (hasArrived(request, limit) ? request.read() : collectBody(request, limit))
  );
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Decodes the bytes of a body as UTF-8. @throws OAuthError if they are not valid UTF-8 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalidBody('The body is not valid UTF-8.');
  }
}
