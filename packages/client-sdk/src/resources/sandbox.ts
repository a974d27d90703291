import type { ApiPromise } from '../http/api-promise.ts';
import { call } from '../http/call.ts';
import type { Connection, IdempotentOptions, RequestOptions } from '../options.ts';
import type { SentEvent } from './events.ts';

/** A passport to create. */
export interface SandboxPassportRequest {
  /** A user of the sandbox; `KID-TEST-APPROVED` by default. */
  readonly kid?: string | undefined;
  /** True to create a passport that has already expired. */
  readonly expired?: boolean | undefined;
}

/** A passport of the sandbox. */
export interface SandboxPassport {
  readonly token: string;
  readonly kid: string;
  readonly issuedAt: string;
  readonly expiresAt: string;
}

/** An event to trigger. */
export interface SandboxEventRequest {
  readonly type: string;
  /** Data of the event; by default example data. */
  readonly data?: { readonly [name: string]: unknown } | undefined;
}

/**
 * Operations for trying things out, which only test keys have.
 *
 * @example
 * ```ts
 * const { token } = await ostiary.sandbox.createPassport({ kid: 'KID-TEST-APPROVED' });
 * console.log((await ostiary.passports.verify({ token })).user.kid);
 * ```
 */
export interface Sandbox {
  /**
   * Mints a passport for a user of the sandbox. An additional passport does no harm, so a failed call is
   * repeated.
   *
   * @throws OstiaryError `not_found` with a live key
   */
  createPassport(request?: SandboxPassportRequest, options?: RequestOptions): ApiPromise<SandboxPassport>;
  /**
   * Triggers an event and delivers it to your test endpoints.
   *
   * @throws OstiaryError `not_found` with a live key
   */
  triggerEvent(request: SandboxEventRequest, options?: IdempotentOptions): ApiPromise<SentEvent>;
}

export function sandbox(connection: Connection): Sandbox {
  const path = '/v1/partner/sandbox';
  return {
    createPassport: (body = {}, options) =>
      call(connection, { method: 'POST', path: `${path}/passports`, body }, options),
    triggerEvent: (body, options) =>
      call(connection, { method: 'POST', path: `${path}/events`, body, repeat: 'key' }, options),
  };
}
