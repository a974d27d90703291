import type { ApiPromise } from '../http/api-promise.ts';
import { call } from '../http/call.ts';
import type { Connection, RequestOptions } from '../options.ts';
import type { KycStatus } from './open.ts';

/** A passport to verify. */
export interface VerifyRequest {
  readonly token: string;
}

/** A valid passport, and its user. */
export interface Verification {
  readonly valid: true;
  readonly user: {
    readonly kid: string;
    /** Missing where the service does not know it, like `country`, `kycStatus` and `kycTier`. */
    readonly role?: string;
    /** ISO 3166-1 alpha-2. */
    readonly country?: string;
    readonly kycStatus?: KycStatus;
    /** 0 to 3. */
    readonly kycTier?: number;
  };
  readonly issuedAt: string;
  readonly expiresAt: string;
}

/**
 * Passports.
 *
 * @example
 * ```ts
 * const { user } = await ostiary.passports.verify({ token: 'what the user has shown' });
 * console.log(user.kid, user.kycStatus);
 * ```
 */
export interface Passports {
  /**
   * Says who shows a passport. It may be verified several times in its five minutes, so a call that failed is repeated.
   *
   * @throws OstiaryError `token_expired` when it is too old, `invalid_request` when it is none of this service and mode,
   * `not_found` when its user is gone
   */
  verify(request: VerifyRequest, options?: RequestOptions): ApiPromise<Verification>;
}

export function passports(connection: Connection): Passports {
  return {
    verify: (body, options) =>
      call(connection, { method: 'POST', path: '/v1/partner/verify', body }, options),
  };
}
