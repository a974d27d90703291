import { type ErrorCode, OstiaryError } from '../errors.ts';

/**
 * Error for a callback URL without a usable code. Either the provider reported an error (`access_denied`,
 * `login_required`, …), or the callback does not belong to this sign-in (`state_mismatch`, `issuer_mismatch`,
 * `malformed_callback`). No code was exchanged.
 *
 * @example
 * ```ts
 * const hasDeclined = (error: unknown): boolean => error instanceof CallbackError && error.code === 'access_denied';
 * ```
 */
export class CallbackError extends OstiaryError {
  override readonly name = 'CallbackError';
}

function refused(code: ErrorCode, message: string): CallbackError {
  return new CallbackError(`${message} (${code})`, {
    code,
    status: null,
    requestId: null,
    details: [],
    retryable: false,
    retryAfter: null,
    outcome: 'not_executed',
    attempts: 0,
    idempotencyKey: null,
  });
}

/** Format of a provider's error codes: one word. Other texts may come from an attacker. */
const errorCode = /^[a-z_]{1,40}$/;

/**
 * Returns the code in a callback URL after checking its state and issuer (RFC 9207). No other part of the URL
 * is trusted before that.
 * @throws CallbackError
 */
export function codeOf(
  callback: URL,
  { state, issuer }: { readonly state: string; readonly issuer: string },
): string {
  const parameters = callback.searchParams;
  for (const name of ['code', 'state', 'iss', 'error']) {
    if (parameters.getAll(name).length > 1) throw refused('malformed_callback', `${name} is given twice`);
  }
  if (typeof state !== 'string' || state === '' || parameters.get('state') !== state) {
    throw refused('state_mismatch', 'The callback does not belong to this sign-in');
  }
  if (parameters.get('iss') !== issuer) {
    throw refused('issuer_mismatch', 'The callback comes from another provider');
  }
  const error = parameters.get('error');
  if (error !== null) {
    throw refused(errorCode.test(error) ? error : 'malformed_callback', 'The provider gave no access');
  }
  const code = parameters.get('code');
  if (code === null || code === '') throw refused('malformed_callback', 'The callback has no code');
  return code;
}
