import {
  AbortedError,
  ConnectionError,
  type ErrorClass,
  type ErrorDetail,
  type ErrorFacts,
  errorClasses,
  OstiaryError,
  type Outcome,
  ProtocolError,
  RateLimitError,
  ServerError,
  TimeoutError,
} from '../errors.ts';
import type { FetchResponse } from '../options.ts';
import { Broken, objectOf, Unreadable } from './body.ts';
import { Stopped } from './watch.ts';

/**
 * Effect of one attempt on the server. `none`: it did not reach the server, or the server refused it before it
 * changed anything. `settled`: nothing was executed, neither now nor at earlier attempts.
 */
type Effect = 'none' | 'settled' | 'executed' | 'unknown';

/** Description of a failed attempt. */
export interface Failure extends Omit<ErrorFacts, 'outcome' | 'attempts' | 'idempotencyKey'> {
  readonly Class: ErrorClass;
  readonly message: string;
  readonly effect: Effect;
}

/**
 * Returns what a call did on the server after one more attempt.
 *
 * Only two responses say something about earlier attempts. After a success, the key makes all attempts one. After
 * `idempotency_conflict` nothing was executed: the server checks the key before the reference, so an executed attempt would
 * have matched its key. Every other refusal may have come before the server checked the key, or while an earlier attempt was
 * still running, so it settles nothing.
 */
export function outcomeAfter(before: Outcome, effect: Effect): Outcome {
  if (before === 'executed' || effect === 'none') return before;
  return effect === 'settled' ? 'not_executed' : effect;
}

/** Returns the server's id of a request. */
export const requestIdOf = (response: FetchResponse | undefined): string | null =>
  response?.headers.get('x-request-id') ?? null;

/**
 * Returns the time that the server asks to wait, in milliseconds; `null` if it asks for none. `Retry-After` has
 * seconds, or a date (RFC 9110, section 10.2.3) that is compared with the response's `Date` header, or with
 * the local clock if there is none.
 */
function retryAfterOf({ headers }: FetchResponse, now: number): number | null {
  const value = headers.get('retry-after') ?? '';
  // Some proxies send fractions, which `Date.parse` would take for a year or a month.
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - (Date.parse(headers.get('date') ?? '') || now));
}

function detailsOf(details: unknown): ErrorDetail[] {
  if (!Array.isArray(details)) return [];
  return details.filter((detail) => isText(detail?.path) && isText(detail.message));
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/**
 * Describes the failure of an attempt whose response has an error status or is a redirect. `text` must
 * contain no secrets. The page of a proxy is not quoted.
 */
export function failureOf(response: FetchResponse, text: string, now: number): Failure {
  const { status, headers } = response;
  const requestId = requestIdOf(response);
  const body = objectOf(text) ?? {};
  // The OAuth endpoints use `error` and `error_description`.
  const known = [body.code, body.error].find(isText);
  const code = known ?? (status < 400 ? 'redirect' : 'unexpected_answer');
  const words =
    [body.message, body.error_description].find(isText) ??
    (status < 400
      ? 'Redirects are not followed: is the URL right?'
      : `No error of this API, but ${headers.get('content-type')}`);
  let Class = Object.hasOwn(errorClasses, code) ? errorClasses[code] : undefined;
  if (status >= 500) Class = ServerError;
  else if (status === 429) Class = RateLimitError;
  else Class ??= known === undefined ? ProtocolError : OstiaryError;
  // A refusal without a code or a request id comes from a proxy, which may have forwarded the request before.
  const isOurs = known !== undefined && requestId !== null && status >= 400 && status < 500;
  return {
    Class,
    code,
    message: `${words} (${code}, HTTP ${status}, request ${requestId})`,
    status,
    requestId,
    details: detailsOf(body.details),
    retryable: status >= 500 || status === 429 || status === 408,
    retryAfter: retryAfterOf(response, now),
    effect: !isOurs ? 'unknown' : code === 'idempotency_conflict' ? 'settled' : 'none',
  };
}

interface SystemError {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly message?: unknown;
  readonly cause?: SystemError;
  readonly errors?: readonly SystemError[];
}

/**
 * Returns the cause of an error, or the error itself if it has none. If the cause consists of several errors
 * (`AggregateError`, one for each IP address), returns the first.
 */
function sourceOf(thrown: unknown): SystemError {
  const { cause = thrown } = Object(thrown) as SystemError;
  const source = Object(cause) as SystemError;
  return source.errors?.[0] ?? source;
}

/** State of an attempt that ended without a readable response. */
interface BrokenAttempt {
  /** True if the request may have left this machine. */
  readonly sent?: boolean;
  /** True if `fetch` is the platform's own function. Only its errors prove that no connection was made. */
  readonly trusted?: boolean;
  readonly response?: FetchResponse | undefined;
}

/** Describes the failure of an attempt without a readable response. */
export function failureBy(thrown: unknown, { sent, trusted, response }: BrokenAttempt): Failure {
  const requestId = requestIdOf(response);
  const failure = (Class: ErrorClass, code: string, message: string): Failure => ({
    Class,
    code,
    message,
    status: response?.status ?? null,
    requestId,
    details: [],
    retryAfter: null,
    retryable: code !== 'aborted',
    // A success status of this API means success, even if the body was lost.
    effect: !sent ? 'none' : response?.ok && requestId !== null ? 'executed' : 'unknown',
  });
  if (thrown instanceof Unreadable) return failure(ProtocolError, thrown.code, thrown.message);
  if (thrown instanceof Stopped) {
    return thrown.why === 'aborted'
      ? failure(AbortedError, 'aborted', 'Aborted by the caller')
      : failure(TimeoutError, 'timeout', `No complete response within ${thrown.why}`);
  }
  // Thrown by this package's own code, and not by `fetch` or the reading of a body (Broken): the connection worked, but the
  // response made no sense.
  if (!(thrown instanceof Broken)) {
    const words = `Cannot read the response: ${thrown}`;
    return { ...failure(ProtocolError, 'unexpected_answer', words), retryable: false };
  }
  const { code, syscall, message } = sourceOf(thrown.thrown);
  if (trusted && /^(connect|getaddrinfo|UND_ERR_CONNECT_TIMEOUT)$/.test(String(syscall ?? code)))
    sent = false;
  return failure(ConnectionError, 'connection_error', `No connection: ${message ?? code ?? thrown.thrown}`);
}
