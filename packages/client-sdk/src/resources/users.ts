import type { ApiPromise } from '../http/api-promise.ts';
import { call } from '../http/call.ts';
import type { Connection, RequestOptions } from '../options.ts';
import type { KycStatus } from './open.ts';

/** A user whom the partner may see. */
export interface User {
  readonly kid: string;
  /**
   * Handle (public name) of the user. Missing if the service does not know it; the same holds for `name`,
   * `role`, `country` and `createdAt`.
   */
  readonly handle?: string;
  readonly name?: string;
  readonly role?: string;
  /** Country of the user, as ISO 3166-1 alpha-2. */
  readonly country?: string;
  readonly createdAt?: string;
  /**
   * State of the identity check. Present if the service knows it and, in live mode, only while the user lets
   * a client of yours see it; the same holds for `kycTier`.
   */
  readonly kycStatus?: KycStatus;
  /** Level of the user's identity check, 0 to 3. */
  readonly kycTier?: number;
}

/**
 * Operations on users.
 *
 * @example
 * ```ts
 * const { kid, name } = await ostiary.users.retrieveByPhone('+50937000001');
 * console.log(kid, name);
 * ```
 */
export interface Users {
  /**
   * Returns the user with a public id.
   *
   * @throws OstiaryError `not_found`
   */
  retrieve(kid: string, options?: RequestOptions): ApiPromise<User>;
  /**
   * Returns the user with a phone number in E.164, including its plus.
   *
   * @throws OstiaryError `not_found`; `invalid_request` for a text that is no phone number in E.164
   */
  retrieveByPhone(phone: string, options?: RequestOptions): ApiPromise<User>;
}

/**
 * Checks whether every proxy passes an id on unchanged as a path segment: only unreserved characters (RFC
 * 3986, section 2.3), and neither `.` nor `..`.
 */
const isPlainSegment = (kid: string): boolean => /^(?!\.{1,2}$)[\w.~-]+$/.test(kid);

/** Format of public user ids: 1 to 255 printable ASCII characters. */
const printable = /^[\x20-\x7E]{1,255}$/;

export function users(connection: Connection): Users {
  const path = '/v1/partner/users';
  return {
    retrieve(kid, options) {
      // Send other ids in the query: some proxies decode or refuse `%2F` in a path, and every URL parser
      // removes dot segments, encoded or not.
      if (typeof kid === 'string' && printable.test(kid) && !isPlainSegment(kid))
        return call(connection, { path, query: { kid } }, options);
      return call(connection, { path: `${path}/{kid}`, values: { kid } }, options);
    },
    retrieveByPhone: (phone, options) =>
      call(connection, { path: `${path}/phone/{phone}`, values: { phone } }, options),
  };
}
