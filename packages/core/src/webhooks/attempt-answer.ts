import type { AttemptErrorClass } from './attempt-errors.ts';

/** Maximum size of the beginning of a response body that is kept, in bytes. */
export const maxKeptBody = 16_384;

/** Result of one HTTP request to an endpoint. */
export interface AttemptAnswer {
  /** True if the endpoint responded with a 2xx status in time. */
  readonly ok: boolean;
  /** HTTP status of the endpoint's response; `null` if no complete response headers arrived. */
  readonly httpStatus: number | null;
  /** Reason why the attempt failed; `null` if and only if `ok` is true. */
  readonly error: AttemptErrorClass | null;
  /**
   * First 16 KiB of the response body as text that every database can store; `null` if no complete response
   * headers arrived.
   */
  readonly response: string | null;
  /**
   * Whole milliseconds from the start of the attempt to the end of the response headers, or to the failure,
   * without the wait for other requests to the same IP address. Always 0 for a refused target, because the
   * time of the DNS lookup would reveal something about the name.
   */
  readonly durationMs: number;
}

/** Returns the result of a webhook attempt that got no response. */
export function failedAnswer(error: AttemptErrorClass, durationMs: number): AttemptAnswer {
  return {
    ok: false,
    httpStatus: null,
    error,
    response: null,
    durationMs: error === 'target_refused' ? 0 : Math.round(durationMs),
  };
}
