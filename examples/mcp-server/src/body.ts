import type { IncomingMessage } from 'node:http';

/** Maximum size of a request body, in bytes. */
const maxBytes = 100_000;

/**
 * Reads a request body; `null` if the body is too long. A body that is too long is also read to its end, so
 * that the client gets a response.
 */
export async function readText(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
  }
  return size > maxBytes ? null : Buffer.concat(chunks).toString();
}
