import { type ErrorCode, OstiaryError } from '../errors.ts';

/**
 * The user came back without a code: `access_denied`, `login_required` and the other errors of the provider; or with one that
 * belongs to somebody else: `state_mismatch`, `issuer_mismatch`, `malformed_callback`. Nothing was exchanged.
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

/** An error code of a provider is one word; anything else may have been written by anybody. */
const errorCode = /^[a-z_]{1,40}$/;

/**
 * The code of a callback, after its state and its issuer (RFC 9207) were compared: before that, nothing of it counts.
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
