import type { KycStatus } from '../resources/open.ts';

/** The fields of a user that each scope shows. Those of `email`, `phone` and `address` where the service has switched them on. */
export interface UserinfoFields {
  readonly openid: {
    readonly sub: string;
    readonly kid: string;
    /** Missing where the service does not know it, like `country` and `createdAt`. */
    readonly role?: string;
    /** ISO 3166-1 alpha-2. */
    readonly country?: string;
    readonly createdAt?: string;
  };
  readonly profile: {
    /** Missing where the service does not know it, like `handle` and `avatarUrl`. */
    readonly name?: string;
    readonly handle?: string;
    /** `null` for a user without a picture. */
    readonly avatarUrl?: string | null;
  };
  readonly kyc: {
    /** 0 to 3. Missing where the service does not know it, like `kycStatus`. */
    readonly kycTier?: number;
    readonly kycStatus?: KycStatus;
  };
  readonly 'wallet:balance': {
    /** Decimal with two digits. */
    readonly htgBalance: string;
    readonly usdBalance: string;
  };
  readonly identity: {
    /** 0 to 100. */
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

/** OpenID Connect Core, section 5.1.1. */
export interface PostalAddress {
  readonly formatted?: string;
  readonly street_address?: string;
  readonly locality?: string;
  readonly region?: string;
  readonly postal_code?: string;
  readonly country?: string;
}

/** A scope that the SDK knows. A service may have others: declare them in `UserinfoFields`, as the README shows. */
export type OAuthScope = keyof UserinfoFields;

type All<Of> = (Of extends unknown ? (part: Of) => void : never) extends (part: infer Whole) => void
  ? Whole
  : never;

/**
 * A user as an access token shows them: every field of the scopes that are named, and perhaps others.
 *
 * @typeParam Scope - the scopes that were approved
 */
export type Userinfo<Scope extends OAuthScope = never> = Partial<All<UserinfoFields[OAuthScope]>> &
  ([Scope] extends [never] ? unknown : All<UserinfoFields[Scope]>);
