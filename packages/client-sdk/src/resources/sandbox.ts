import type { ApiPromise } from '../http/api-promise.ts';
import { call } from '../http/call.ts';
import type { Connection, IdempotentOptions, RequestOptions } from '../options.ts';
import type { SentEvent } from './events.ts';
import type { KycStatus } from './open.ts';

/** Whose passport to mint. */
export interface SandboxPassportRequest {
  /** A user of the sandbox; `KID-TEST-APPROVED` unless given. */
  readonly kid?: string | undefined;
  /** Whether it is too old already. */
  readonly expired?: boolean | undefined;
}

/** A passport of the sandbox. */
export interface SandboxPassport {
  readonly token: string;
  readonly kid: string;
  readonly issuedAt: string;
  readonly expiresAt: string;
}

/** How the identity check of a sandbox user is to stand. */
export interface SandboxKycChange {
  readonly kycStatus: 'approved' | 'pending' | 'rejected';
  /** What the sandbox user with this status begins with, unless given. */
  readonly kycTier?: 0 | 1 | 2 | 3 | undefined;
}

/** How the identity check of a sandbox user stands now. */
export interface SandboxKyc {
  readonly kid: string;
  readonly kycStatus: KycStatus;
  readonly kycTier: number;
  readonly previous: {
    readonly kycStatus: KycStatus;
    readonly kycTier: number;
  };
  /** The `kyc.updated` event that tells of it; `null` where nothing changed. */
  readonly eventId: string | null;
  /** When it is as in the beginning again; `null` where it is so already. */
  readonly endsAt: string | null;
}

/** An event to trigger. */
export interface SandboxEventRequest {
  readonly type: string;
  /** Example data unless given. */
  readonly data?: { readonly [name: string]: unknown } | undefined;
}

/**
 * What test keys can do to try things out.
 *
 * @example
 * ```ts
 * const { token } = await ostiary.sandbox.createPassport({ kid: 'KID-TEST-APPROVED' });
 * console.log((await ostiary.passports.verify({ token })).user.kid);
 * ```
 */
export interface Sandbox {
  /**
   * Mints a passport for a user of the sandbox. One more does no harm, so a call that failed is repeated.
   *
   * @throws OstiaryError `not_found` with a live key
   */
  createPassport(request?: SandboxPassportRequest, options?: RequestOptions): ApiPromise<SandboxPassport>;
  /**
   * Triggers an event, which is delivered to your test endpoints.
   *
   * @throws OstiaryError `not_found` with a live key
   */
  triggerEvent(request: SandboxEventRequest, options?: IdempotentOptions): ApiPromise<SentEvent>;
  /**
   * Changes the identity check of a user of the sandbox, for your test keys and for 7 days; your test endpoints are told.
   *
   * @throws OstiaryError `not_found` for any other user, and with a live key
   */
  changeKyc(kid: string, change: SandboxKycChange, options?: IdempotentOptions): ApiPromise<SandboxKyc>;
}

export function sandbox(connection: Connection): Sandbox {
  const path = '/v1/partner/sandbox';
  return {
    createPassport: (body = {}, options) =>
      call(connection, { method: 'POST', path: `${path}/passports`, body }, options),
    triggerEvent: (body, options) =>
      call(connection, { method: 'POST', path: `${path}/events`, body, repeat: 'key' }, options),
    changeKyc: (kid, body, options) =>
      call(
        connection,
        { method: 'POST', path: `${path}/users/{kid}/kyc`, values: { kid }, body, repeat: 'key' },
        options,
      ),
  };
}
