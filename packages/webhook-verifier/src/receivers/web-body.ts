import { WebhookVerificationError } from '../errors.ts';
import { readChunks } from './body-chunks.ts';

/**
 * Returns the bytes of a Fetch request's body.
 * @throws WebhookVerificationError if the bytes are lost, if they are too many, or if the sender disconnects
 */
export async function readWebBody(request: Request, most: number, advice: string): Promise<Uint8Array> {
  const { body, bodyUsed } = request;
  if (bodyUsed || body?.locked) throw new WebhookVerificationError('body_already_read', advice);
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  try {
    const announced = Number(request.headers.get('content-length') ?? 0);
    return await readChunks(() => reader.read(), announced, most);
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
