import { WebhookVerificationError } from './errors.ts';
import { loneSurrogate } from './secrets.ts';

/** The body of a delivery as it came: its bytes, or a string of them that nothing has changed. */
export type RawBody = string | Uint8Array | ArrayBuffer;

/** Bytes, or the text that they are the UTF-8 of. */
export function contentOf(body: RawBody): string | Uint8Array {
  if (typeof body === 'string') {
    if (loneSurrogate.test(body)) {
      throw new WebhookVerificationError(
        'body_not_utf8',
        'The body has a lone surrogate. Pass the bytes as they arrived.',
      );
    }
    return body;
  }
  if (body instanceof Uint8Array) return body;
  // Values of another realm, such as a test runner's, are no instances of this one's classes.
  if (ArrayBuffer.isView(body)) {
    const { buffer, byteOffset, byteLength }: ArrayBufferView = body;
    return new Uint8Array(buffer, byteOffset, byteLength);
  }
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]') return new Uint8Array(body);
  if (body === undefined || body === null) {
    throw new WebhookVerificationError('body_missing', 'There is no body. Pass the bytes as they arrived.');
  }
  throw new WebhookVerificationError(
    'body_already_parsed',
    'The body is an object, but the bytes are signed: read them before a parser does.',
  );
}
