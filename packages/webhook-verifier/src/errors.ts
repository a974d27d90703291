/** Codes of {@link WebhookVerificationError}. Codes are stable; messages are for people and may change. */
export const webhookErrorCodes = [
  /** A required header is missing. */
  'missing_header',
  /** A header came more than once, is empty, or has the wrong format. */
  'malformed_header',
  /** The timestamp is further in the past than the tolerance allows. */
  'timestamp_too_old',
  /** The timestamp is further in the future than the tolerance allows. */
  'timestamp_too_new',
  /** The signature does not match: it was made with another secret, or for other bytes. */
  'signature_mismatch',
  /** The id in the header differs from the id in the signed body. */
  'id_mismatch',
  /** The type in the header differs from the type in the signed body. */
  'type_mismatch',
  /** The body is `undefined` or `null`. A body of zero bytes gives `signature_mismatch`. */
  'body_missing',
  /** The body is an object made by a body parser, not the bytes that were sent. */
  'body_already_parsed',
  /** Other code has already read the request's body. */
  'body_already_read',
  /** The body is longer than the receiver's `maxBodyBytes`. */
  'body_too_large',
  /** The sender disconnected before the body was complete. */
  'body_incomplete',
  /** The bytes are not valid UTF-8, or the string has a lone surrogate. */
  'body_not_utf8',
  /** The signed bytes are not valid JSON, for example because of a byte order mark. */
  'body_not_json',
  /**
   * The webhook secret is missing, blank, too short, or the text of an unset variable, such as `"undefined"`,
   * or it has a lone surrogate.
   */
  'weak_secret',
] as const;

/** A code of {@link WebhookVerificationError}. */
export type WebhookErrorCode = (typeof webhookErrorCodes)[number];

/**
 * Error for a webhook that was refused, or for a secret or body that cannot be used. The message says how to
 * fix the problem, and never contains a secret, the expected signature or a part of the body.
 */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  /** Stable code of the reason. Compare the code in programs, since the message may change. */
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
