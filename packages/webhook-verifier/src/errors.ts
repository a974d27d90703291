/** Every code of a {@link WebhookVerificationError}. Codes are stable; messages are for people and may change. */
export const webhookErrorCodes = [
  /** A header of the delivery is not there. */
  'missing_header',
  /** A header came more than once, is empty, or is not in its format. */
  'malformed_header',
  /** The timestamp is further in the past than the tolerance allows. */
  'timestamp_too_old',
  /** The timestamp is further in the future than the tolerance allows. */
  'timestamp_too_new',
  /** No secret gives this signature for these bytes. */
  'signature_mismatch',
  /** The id in the header is not the one in the signed body. */
  'id_mismatch',
  /** The type in the header is not the one in the signed body. */
  'type_mismatch',
  /** There is no body at all: `undefined`, `null` or no bytes. */
  'body_missing',
  /** The body is an object that a parser made, not the bytes that were sent. */
  'body_already_parsed',
  /** Something else has read the stream of the request. */
  'body_already_read',
  /** The body is longer than a receiver's `maxBodyBytes`. */
  'body_too_large',
  /** The sender went away before the body was complete. */
  'body_incomplete',
  /** The bytes are no UTF-8, or the string has a lone surrogate. */
  'body_not_utf8',
  /** The signed bytes are no JSON; a byte order mark makes them so. */
  'body_not_json',
  /** The secret is not set, too short, or what a bug makes of a missing one, such as `"undefined"`. */
  'weak_secret',
] as const;

/** A code of {@link WebhookVerificationError}. */
export type WebhookErrorCode = (typeof webhookErrorCodes)[number];

/**
 * Reason why a delivery was refused. The message says how to fix it, and never contains a secret, the
 * expected signature or a part of the body.
 */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  /** Decide by this. */
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
