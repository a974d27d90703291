// Error classes, one for each code. They share a file so that they can be read side by side.

/**
 * Effect of a failed call on the server, over all of its attempts. `not_executed`: no attempt changed
 * anything, for example because the server refused it or was not reached. `executed`: the server executed the
 * call, and its response was lost or unreadable. `unknown`: neither is certain.
 */
export type Outcome = 'not_executed' | 'executed' | 'unknown';

/** A field, parameter or header that caused the error. */
export interface ErrorDetail {
  /** Path of the field with the problem, such as `recipient.kid`. */
  readonly path: string;
  readonly message: string;
}

/**
 * Code of the partner API, or a code of the SDK: `connection_error`, `timeout`, `aborted`,
 * `unexpected_answer`, `redirect`, `incomplete_export`. Calls of the OAuth client also have the provider's
 * codes, such as `invalid_grant`, and those of `CallbackError`. A newer server may send other codes.
 */
export type ErrorCode =
  | 'invalid_request'
  | 'invalid_api_key'
  | 'invalid_signature'
  | 'insufficient_scope'
  | 'ip_not_allowed'
  | 'not_found'
  | 'idempotency_conflict'
  | 'token_expired'
  | 'rate_limit_exceeded'
  | 'internal_error'
  | 'connection_error'
  | 'timeout'
  | 'aborted'
  | 'unexpected_answer'
  | 'redirect'
  | 'incomplete_export'
  | (string & Record<never, never>);

/** Properties of every {@link OstiaryError}. */
export interface ErrorFacts {
  /** Code of the error. Decide by the code, since the message may change. */
  readonly code: ErrorCode;
  /** HTTP status; `null` if there was no response. */
  readonly status: number | null;
  /** Id of the request at the server. Include it in support requests. */
  readonly requestId: string | null;
  /** Fields of the request that caused the error; empty if no field did. */
  readonly details: readonly ErrorDetail[];
  /** True if the same call may succeed later. Repeat it with the same `idempotencyKey`, if it had one. */
  readonly retryable: boolean;
  /** Time that the server asks the client to wait before the next call, in milliseconds, or `null`. */
  readonly retryAfter: number | null;
  /** Effect of the failed call on the server; see {@link Outcome}. */
  readonly outcome: Outcome;
  /** Number of attempts that were made. */
  readonly attempts: number;
  /**
   * `Idempotency-Key` of every attempt, or `null`. If the outcome is `unknown`, repeat the call with this
   * key.
   */
  readonly idempotencyKey: string | null;
}

/**
 * Base class of the error that every failed call throws. It contains neither the API key nor the signing
 * secret.
 *
 * @example
 * ```ts
 * try {
 *   await ostiary.payments.create({ amount: '125.00', currency: 'HTG', recipient: { kid: 'KID-ANA' } });
 * } catch (error) {
 *   if (!(error instanceof OstiaryError)) throw error;
 *   console.log(error.code, error.requestId, error.outcome);
 * }
 * ```
 */
export class OstiaryError extends Error implements ErrorFacts {
  override readonly name: string = 'OstiaryError';
  declare readonly code: ErrorCode;
  declare readonly status: number | null;
  declare readonly requestId: string | null;
  declare readonly details: readonly ErrorDetail[];
  declare readonly retryable: boolean;
  declare readonly retryAfter: number | null;
  declare readonly outcome: Outcome;
  declare readonly attempts: number;
  declare readonly idempotencyKey: string | null;

  constructor(message: string, facts: ErrorFacts) {
    super(message);
    Object.assign(this, facts);
  }
}

/**
 * `invalid_request`: the request is malformed or was refused; `details` says where, if a field, parameter or
 * header is the reason.
 */
export class InvalidRequestError extends OstiaryError {
  override readonly name: string = 'InvalidRequestError';
}

/**
 * `invalid_api_key`: the API key is unknown, revoked or expired, or its partner is disabled.
 * {@link SignatureError} is a subclass.
 */
export class AuthenticationError extends OstiaryError {
  override readonly name: string = 'AuthenticationError';
}

/**
 * `invalid_signature`: the key requires signed requests, the signing secret is wrong, or the clock is more
 * than five minutes off.
 */
export class SignatureError extends AuthenticationError {
  override readonly name = 'SignatureError';
}

/** `insufficient_scope`: the API key lacks the scope. {@link AddressError} is a subclass. */
export class PermissionError extends OstiaryError {
  override readonly name: string = 'PermissionError';
}

/**
 * `ip_not_allowed`: the API key may not be used from this IP address, or the server cannot determine the
 * address. `whoami()` with another key returns the address.
 */
export class AddressError extends PermissionError {
  override readonly name = 'AddressError';
}

/**
 * `not_found`: the object does not exist, or belongs to another partner or mode, or the call is one of the
 * sandbox and the key is a live one.
 *
 * @example
 * ```ts
 * const user = await ostiary.users.retrieve('KID-NOBODY').catch((error: unknown) => {
 *   if (error instanceof NotFoundError) return null;
 *   throw error;
 * });
 * ```
 */
export class NotFoundError extends OstiaryError {
  override readonly name = 'NotFoundError';
}

/**
 * `idempotency_conflict`: the `idempotencyKey` was used with another payload, or the `reference` belongs to
 * another transfer, whose id is in `details`. Nothing was executed.
 *
 * @example
 * ```ts
 * const earlierTransfer = (error: ConflictError): string | undefined =>
 *   error.details.find(({ path }) => path === 'reference')?.message;
 * ```
 */
export class ConflictError extends OstiaryError {
  override readonly name = 'ConflictError';
}

/**
 * `token_expired`: the passport is genuine but older than five minutes, or the access token is older than an
 * hour.
 */
export class TokenExpiredError extends OstiaryError {
  override readonly name = 'TokenExpiredError';
}

/**
 * `rate_limit_exceeded`, or another code with status 429: the rate limit is used up, and the client does not
 * retry any more, because `maxRetries` is reached, the server asks for a wait of more than a minute, or too
 * little of `totalTimeout` is left.
 */
export class RateLimitError extends OstiaryError {
  override readonly name = 'RateLimitError';
}

/** The server, or a proxy in front of it, failed: a 5xx status with any body. */
export class ServerError extends OstiaryError {
  override readonly name = 'ServerError';
}

/** The connection could not be made, or it broke. {@link TimeoutError} is a subclass. */
export class ConnectionError extends OstiaryError {
  override readonly name: string = 'ConnectionError';
}

/** An attempt took longer than `timeout`, or the call longer than `totalTimeout`. */
export class TimeoutError extends ConnectionError {
  override readonly name = 'TimeoutError';
}

/** Error of a call that the caller's `signal` aborted. */
export class AbortedError extends OstiaryError {
  override readonly name = 'AbortedError';
}

/**
 * The response is not a valid one of this API: for example a redirect, a page of a proxy, a body that is
 * incomplete or too long, or an export that does not match its summary.
 */
export class ProtocolError extends OstiaryError {
  override readonly name = 'ProtocolError';
}

/** Constructor of an error class. */
export type ErrorClass = new (message: string, facts: ErrorFacts) => OstiaryError;

/** Error class of each error code of the API, except `internal_error`: every 5xx status is a ServerError. */
export const errorClasses: { readonly [code: string]: ErrorClass } = {
  invalid_request: InvalidRequestError,
  invalid_api_key: AuthenticationError,
  invalid_signature: SignatureError,
  insufficient_scope: PermissionError,
  ip_not_allowed: AddressError,
  not_found: NotFoundError,
  idempotency_conflict: ConflictError,
  token_expired: TokenExpiredError,
  rate_limit_exceeded: RateLimitError,
};
