import type { IncomingMessage } from 'node:http';

/** Error for a request body that is not a form of this server's pages. */
export class FormError extends Error {
  override readonly name = 'FormError';
  readonly status: 400 | 413 | 415;

  constructor(status: 400 | 413 | 415, message: string) {
    super(message);
    this.status = status;
  }
}

const maxBytes = 16_384;

/** Maximum number of bytes of a form that is too large, before its connection is closed. */
const maxDiscardedBytes = 16 * 1024 * 1024;

const tooLarge = () => new FormError(413, 'the form is too large');

/**
 * Reads a body to its end, also one that is refused. Closing a connection on which a proxy still writes would
 * reset it, and the proxy would respond with 502 (RFC 9112, section 9.6).
 */
async function readBody(request: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request) {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      if (size > maxDiscardedBytes) throw tooLarge();
    }
  } catch (error) {
    if (error instanceof FormError) throw error;
    throw new FormError(400, 'the request ended early');
  }
  if (size > maxBytes) throw tooLarge();
  return Buffer.concat(chunks);
}

/**
 * Reads a posted form of at most 16 KiB.
 *
 * @param lists - names of fields that may occur more than once
 * @throws {@link FormError}
 */
export async function readForm(
  request: IncomingMessage,
  lists: readonly string[] = [],
): Promise<URLSearchParams> {
  if (Number(request.headers['content-length'] ?? 0) > maxDiscardedBytes) throw tooLarge();
  const body = await readBody(request);
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new FormError(415, 'a form is expected');
  const form = new URLSearchParams(body.toString('latin1'));
  for (const [name, value] of form) {
    if (form.getAll(name).length > 1 && !lists.includes(name))
      throw new FormError(400, 'a field was sent twice');
    if (value.includes('\0') || !value.isWellFormed()) throw new FormError(400, 'a field is not text');
  }
  return form;
}
