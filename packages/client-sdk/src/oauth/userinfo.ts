import type { KycStatus } from '../resources/open.ts';

/**
 * Fields of a user by the scope that reveals them. Not every service offers `email`, `phone` and `address`.
 */
export interface UserinfoFields {
  readonly openid: {
    readonly sub: string;
    readonly kid: string;
    /**
     * Role of the user. Missing if the service does not know it; the same holds for `country` and
     * `createdAt`.
     */
    readonly role?: string;
    /** Country of the user, as ISO 3166-1 alpha-2. */
    readonly country?: string;
    readonly createdAt?: string;
  };
  readonly profile: {
    /**
     * Name of the user. Missing if the service does not know it; the same holds for `handle` and `avatarUrl`.
     */
    readonly name?: string;
    readonly handle?: string;
    /** URL of the user's picture; `null` if there is none. */
    readonly avatarUrl?: string | null;
  };
  readonly kyc: {
    /**
     * Level of the identity check, 0 to 3. Missing if the service does not know it; the same holds for
     * `kycStatus`.
     */
    readonly kycTier?: number;
    readonly kycStatus?: KycStatus;
  };
  readonly 'wallet:balance': {
    /** Balance of the user in HTG, a decimal with two digits. */
    readonly htgBalance: string;
    readonly usdBalance: string;
  };
  readonly identity: {
    /** Trust score of the user, from 0 to 100. */
    readonly trustScore: number;
    readonly trustTier: string;
    readonly activeCredentials: readonly {
      readonly id: string;
      readonly type: string;
      readonly issuedAt: string;
      readonly expiresAt: string | null;
    }[];
  };
  readonly email: { readonly email?: string; readonly email_verified?: boolean };
  readonly phone: { readonly phone_number?: string; readonly phone_number_verified?: boolean };
  readonly address: { readonly address?: PostalAddress };
}

/** Postal address of the user (OpenID Connect Core, section 5.1.1). */
export interface PostalAddress {
  readonly formatted?: string;
  readonly street_address?: string;
  readonly locality?: string;
  readonly region?: string;
  readonly postal_code?: string;
  readonly country?: string;
}

/**
 * Name of a scope that the SDK knows. Declare the service's other scopes in `UserinfoFields`, as the README
 * shows.
 */
export type OAuthScope = keyof UserinfoFields;

type All<Of> = (Of extends unknown ? (part: Of) => void : never) extends (part: infer Whole) => void
  ? Whole
  : never;

/**
 * User to whom an access token belongs: every field of the named scopes, and perhaps others.
 *
 * @typeParam Scope - scopes that the user approved
 */
export type Userinfo<Scope extends OAuthScope = never> = Partial<All<UserinfoFields[OAuthScope]>> &
  ([Scope] extends [never] ? unknown : All<UserinfoFields[Scope]>);
