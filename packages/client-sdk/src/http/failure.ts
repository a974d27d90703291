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
 * Effect of one attempt at the server. `none`: the server refused it before anything happened. `settled`:
 * nothing happened, neither now nor at the attempts before.
 */
type Effect = 'none' | 'settled' | 'executed' | 'unknown';

/** An attempt that failed. */
export interface Failure extends Omit<ErrorFacts, 'outcome' | 'attempts' | 'idempotencyKey'> {
  readonly Class: ErrorClass;
  readonly message: string;
  readonly effect: Effect;
}

/**
 * Outcome of a call after one more attempt.
 *
 * Only two answers say something about the attempts before. A success does: the key makes all attempts one. So does
 * `idempotency_conflict`: the server looks for the key before the reference, so that neither can be in the way of a request
 * that was executed. Every other refusal may have come before the server looked, or while an earlier attempt was still under
 * way: it settles nothing.
 */
export function outcomeAfter(before: Outcome, effect: Effect): Outcome {
  if (before === 'executed' || effect === 'none') return before;
  return effect === 'settled' ? 'not_executed' : effect;
}

/** The server's name for a request. */
export const requestIdOf = (response: FetchResponse | undefined): string | null =>
  response?.headers.get('x-request-id') ?? null;

/**
 * Time that the server asks to wait, in milliseconds. `Retry-After` has seconds, or a date (RFC 9110, section
 * 10.2.3) that is compared with the server's own clock.
 */
function retryAfterOf({ headers }: FetchResponse, now: number): number | null {
  const value = headers.get('retry-after') ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - (Date.parse(headers.get('date') ?? '') || now));
}

function detailsOf(details: unknown): ErrorDetail[] {
  if (!Array.isArray(details)) return [];
  return details.filter((detail) => isText(detail?.path) && isText(detail.message));
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** An answer that is no success. `text` has no secrets any more; the page of a proxy is not quoted. */
export function failureOf(response: FetchResponse, text: string, now: number): Failure {
  const { status, headers } = response;
  const requestId = requestIdOf(response);
  const body = objectOf(text) ?? {};
  // `error` and `error_description`: the OAuth endpoints.
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
  // A refusal without a code and a request id comes from a proxy, which may have passed the request on before.
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

/** Reason for a broken connection, from the innermost cause of the error. */
function sourceOf(thrown: unknown): SystemError {
  const { cause = thrown } = Object(thrown) as SystemError;
  const source = Object(cause) as SystemError;
  return source.errors?.[0] ?? source;
}

/** Describes an attempt that ended without a readable response. */
interface BrokenAttempt {
  /** True if the request may have left this machine. */
  readonly sent?: boolean;
  /** True if the platform threw the error. Only the platform can tell that there was never a connection. */
  readonly trusted?: boolean;
  readonly response?: FetchResponse | undefined;
}

/** An attempt that gave no answer that could be read. */
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
    // A success status of this API counts as a success, even if the body was lost.
    effect: !sent ? 'none' : response?.ok && requestId !== null ? 'executed' : 'unknown',
  });
  if (thrown instanceof Unreadable) return failure(ProtocolError, thrown.code, thrown.message);
  if (thrown instanceof Stopped) {
    return thrown.why === 'aborted'
      ? failure(AbortedError, 'aborted', 'Aborted by the caller')
      : failure(TimeoutError, 'timeout', `No complete answer within ${thrown.why}`);
  }
  // An error of this package's own is an answer that it could not make sense of, and not a missing connection.
  if (!(thrown instanceof Broken)) {
    const words = `Cannot read the answer: ${thrown}`;
    return { ...failure(ProtocolError, 'unexpected_answer', words), retryable: false };
  }
  const { code, syscall, message } = sourceOf(thrown.thrown);
  if (trusted && /^(connect|getaddrinfo|UND_ERR_CONNECT_TIMEOUT)$/.test(String(syscall ?? code)))
    sent = false;
  return failure(ConnectionError, 'connection_error', `No connection: ${message ?? code ?? thrown.thrown}`);
}
