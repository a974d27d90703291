import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

/** Bytes of a refused body that are read before its connection is closed. */
const maxDiscardedBytes = 16 * 1024 * 1024;

/** Time without data after which the response to a refused body is sent anyway, in milliseconds. */
const silenceMs = 500;

/** Time after which a connection with a refused body is closed, in milliseconds. */
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
 * Resolves when the response may be sent: at once if the connection stays open after it, otherwise when nothing more arrives.
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
 * Resolves when the body has ended, exceeds the limit for discarded bytes, or has been silent for a while.
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
        // Give the client this long to read the response before the connection is reset.
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
