import type { ApiPromise } from '../http/api-promise.ts';
import { call } from '../http/call.ts';
import type { Connection, RequestOptions } from '../options.ts';
import type { KycStatus } from './open.ts';

/** Request to verify a passport. */
export interface VerifyRequest {
  readonly token: string;
}

/** A valid passport with its user. */
export interface Verification {
  readonly valid: true;
  readonly user: {
    readonly kid: string;
    /**
     * Role of the user. Missing if the service does not know it; the same holds for `country`, `kycStatus`
     * and `kycTier`.
     */
    readonly role?: string;
    /** Country of the user, as ISO 3166-1 alpha-2. */
    readonly country?: string;
    readonly kycStatus?: KycStatus;
    /** Level of the user's identity check, 0 to 3. */
    readonly kycTier?: number;
  };
  readonly issuedAt: string;
  readonly expiresAt: string;
}

/**
 * Operations on passports.
 *
 * @example
 * ```ts
 * const { user } = await ostiary.passports.verify({ token: 'what the user has shown' });
 * console.log(user.kid, user.kycStatus);
 * ```
 */
export interface Passports {
  /**
   * Verifies a passport and returns its user. A passport may be verified several times in its five minutes,
   * so a failed call is repeated.
   *
   * @throws OstiaryError `token_expired` if the passport is too old, `invalid_request` if it is not a passport of this service
   * and mode, `not_found` if its user no longer exists
   */
  verify(request: VerifyRequest, options?: RequestOptions): ApiPromise<Verification>;
}

export function passports(connection: Connection): Passports {
  return {
    verify: (body, options) =>
      call(connection, { method: 'POST', path: '/v1/partner/verify', body }, options),
  };
}
