import { WebhookVerificationError } from './errors.ts';
import { loneSurrogate } from './secrets.ts';

/** The body of a delivery as it came: its bytes, or a string of them that nothing has changed. */
export type RawBody = string | Uint8Array | ArrayBuffer;

export const encoder = /* @__PURE__ */ new TextEncoder();

/** The bytes of a body; those of a string are its UTF-8. Bytes that are given are these very bytes. */
export function bytesOf(body: RawBody): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') {
    if (loneSurrogate.test(body)) {
      throw new WebhookVerificationError(
        'body_not_utf8',
        'The body has a lone surrogate. Pass the bytes as they arrived.',
      );
    }
    return encoder.encode(body);
  }
  if (body instanceof Uint8Array) return body as Uint8Array<ArrayBuffer>;
  // Values of another realm, such as a test runner's, are no instances of this one's classes.
  if (ArrayBuffer.isView(body)) {
    const view = body as ArrayBufferView<ArrayBuffer>;
    return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  }
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]') return new Uint8Array(body);
  if (body === undefined || body === null) {
    throw new WebhookVerificationError(
      'body_missing',
      'The body is missing. Pass the bytes as they arrived.',
    );
  }
  throw new WebhookVerificationError(
    'body_already_parsed',
    'The body was parsed. Pass the bytes as they arrived.',
  );
}

const decoder = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes UTF-8 bytes, with their byte order mark. Returns null for malformed bytes. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}
