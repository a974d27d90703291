import type { IncomingMessage } from 'node:http';
import { OAuthError } from '../errors.ts';
import { discardBody } from './discarded-body.ts';

/** Largest request body, in bytes. Longer bodies are refused with 413. */
const maxBodyBytes = 64 * 1024;

/** Time in which a body must arrive, in milliseconds. A slower body is refused with 408. */
const bodyDeadlineMs = 10_000;

/** Creates the error for a body that cannot be read. */
export const invalidBody = (description: string, status = 400): OAuthError =>
  new OAuthError('invalid_request', description, {
    status,
    headers: status === 408 ? { Connection: 'close' } : {},
  });

const tooLong = (limit: number) => invalidBody(`The body may have ${limit} bytes at most.`, 413);

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
 * Checks whether the whole body is already buffered, as most small bodies are. Reading it at once is much
 * quicker than listening for data.
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
 * Returns the bytes of a body that a parser of the host has read, if it kept them as `rawBody` (NestJS and
 * others do); `null` otherwise.
 */
function keptByHost(request: IncomingMessage, limit: number): Buffer | null {
  const kept: unknown = request.readableEnded && 'rawBody' in request ? request.rawBody : null;
  if (!(kept instanceof Uint8Array)) return null;
  if (kept.length > limit) throw tooLong(limit);
  return Buffer.from(kept.buffer, kept.byteOffset, kept.length);
}

/**
 * Returns a body that a parser of the host has read and parsed without keeping its bytes; `undefined` if
 * there is none.
 */
export function parsedByHost(request: IncomingMessage): unknown {
  if (keptByHost(request, maxBodyBytes) !== null) return undefined;
  return request.readableEnded && 'body' in request ? request.body : undefined;
}

/**
 * Reads a body, which a parser of the host may have read before.
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
