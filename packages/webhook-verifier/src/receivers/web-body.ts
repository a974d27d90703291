import { WebhookVerificationError } from '../errors.ts';
import { requireSize } from './receive.ts';

/**
 * The bytes of a Fetch request's body.
 * @throws WebhookVerificationError when they are gone, at once; when they are too many; when the sender goes away
 */
export async function readWebBody(request: Request, most: number, advice: string): Promise<Uint8Array> {
  const { body, bodyUsed } = request;
  if (bodyUsed || body?.locked) throw new WebhookVerificationError('body_already_read', advice);
  requireSize(Number(request.headers.get('content-length') ?? 0), most);
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw new WebhookVerificationError('body_incomplete', 'The sender went away during the body.');
    });
    if (done) break;
    length += value.length;
    try {
      requireSize(length, most);
    } catch (error) {
      reader.cancel().catch(() => undefined);
      throw error;
    }
    chunks.push(value);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
