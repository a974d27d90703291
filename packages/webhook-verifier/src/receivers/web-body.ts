import { WebhookVerificationError } from '../errors.ts';
import { readChunks } from './body-chunks.ts';

/**
 * The bytes of a Fetch request's body.
 * @throws WebhookVerificationError when they are gone, at once; when they are too many; when the sender goes away
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
