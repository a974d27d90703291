import { WebhookVerificationError } from './errors.ts';
import { loneSurrogate } from './secrets.ts';

/** Body of a webhook exactly as it arrived: its bytes, or an unchanged string of them. */
export type RawBody = string | Uint8Array | ArrayBuffer;

export const encoder = /* @__PURE__ */ new TextEncoder();

/** Returns the bytes of a body: a string as UTF-8, bytes as they are, without a copy. */
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
  // Values of another realm, such as a test runner's, are not instances of this realm's classes.
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

/** Decodes UTF-8 bytes, and keeps their byte order mark. Returns `null` for malformed bytes. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}
