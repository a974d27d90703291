import { WebhookVerificationError } from '../errors.ts';
import { requireSize } from './receive.ts';

/** Function that reads the next chunk of a request body, as an iterator or the reader of a stream does. */
export type NextChunk = () => Promise<{
  readonly done?: boolean | undefined;
  readonly value?: Uint8Array | string | undefined;
}>;

/**
 * Limits for discarding the rest of a refused body: bytes, milliseconds without data, and milliseconds in
 * total.
 */
const discarding = { bytes: 16 * 1024 * 1024, silenceMs: 500, totalMs: 10_000 };

/** Resolves with a promise's value, or with `null` if the promise takes too long. */
async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, milliseconds, null);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Reads and discards the rest of a refused body, so that the response reaches the sender. If the connection
 * were closed while a proxy still writes, it would be reset, and the proxy would respond with 502 (RFC 9112,
 * section 9.6).
 */
async function discard(next: NextChunk): Promise<void> {
  const end = Date.now() + discarding.totalMs;
  for (let left = discarding.bytes; left > 0 && Date.now() < end; ) {
    const chunk = await within(discarding.silenceMs, next());
    if (chunk === null || chunk.done === true) return;
    left -= chunk.value?.length ?? 0;
  }
}

/**
 * Reads a request body to its end.
 *
 * @param announced - length that the sender announced, in bytes; 0 if unknown
 * @param most - largest length that is accepted, in bytes
 * @throws WebhookVerificationError `body_too_large`, or `body_incomplete` if the sender disconnects
 */
export async function readChunks(next: NextChunk, announced: number, most: number): Promise<Uint8Array> {
  // If the announced length is above the limit for discarding, a body that is too long is refused without
  // reading it.
  if (announced > discarding.bytes) requireSize(announced, most);
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    while (Math.max(announced, length) <= most) {
      const { done, value } = await next();
      if (done === true || value === undefined) break;
      const chunk = typeof value === 'string' ? new TextEncoder().encode(value) : value;
      length += chunk.length;
      chunks.push(chunk);
    }
    if (Math.max(announced, length) > most) await discard(next);
  } catch {
    throw new WebhookVerificationError('body_incomplete', 'The sender disconnected during the body.');
  }
  requireSize(Math.max(announced, length), most);
  const body = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}
