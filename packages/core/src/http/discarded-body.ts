import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

/** Bytes of a refused body that are read before its connection is closed. */
const maxDiscardedBytes = 16 * 1024 * 1024;

/** Time without data after which a client waits for the response to its refused body, in milliseconds. */
const silenceMs = 500;

/** Time after which the connection of a refused body is closed, in milliseconds. */
const deadlineMs = 10_000;

/** Bodies that are thrown away, with the end of the wait for each. */
const discarded = new WeakMap<IncomingMessage, Promise<void>>();

/** Checks whether the connection ends with the response, as HTTP/1.0 and `Connection: close` have it. */
const endsConnection = ({ headers, httpVersionMajor, httpVersionMinor }: IncomingMessage): boolean =>
  (httpVersionMajor === 1 && httpVersionMinor === 0) || /\bclose\b/i.test(headers.connection ?? '');

/**
 * Reads on and throws away what arrives of a refused body, so that the response reaches the client: a connection that is closed
 * while a client or a proxy still writes is reset, and the response with it, which a proxy answers with 502 (RFC 9112, section 9.6).
 * After 16 MiB or ten seconds the connection is closed.
 *
 * Resolves when the response may be sent: at once if the connection stays open after it, otherwise when nothing more arrives.
 */
export async function discardBody(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return;
  // The body of a `Request` is not read any further: its connection (web-messages.ts) needs no draining.
  if (!(request.socket instanceof Socket)) return void request.on('error', () => {});
  const quiet = discarded.get(request) ?? discard(request);
  discarded.set(request, quiet);
  const isHopeless = Number(request.headers['content-length'] ?? 0) > maxDiscardedBytes;
  if (endsConnection(request) && !isHopeless) await quiet;
}

/** Resolves when the body has ended, or is longer than what is read of it, or when nothing has arrived for a while. */
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
        // The response has this long to be read before the connection is reset.
        request.pause();
        setTimeout(() => request.destroy(), silenceMs).unref();
      })
      // The stream of a request that breaks off has no other listener.
      .on('error', () => {})
      .once('end', end)
      .once('close', end)
      .resume();
  });
}
