import type { KycStatus } from '../resources/open.ts';

/** The fields of a user that each scope shows. */
export interface UserinfoFields {
  readonly openid: {
    readonly sub: string;
    readonly kid: string;
    readonly role: string;
    /** ISO 3166-1 alpha-2. */
    readonly country: string;
    readonly createdAt: string;
  };
  readonly profile: { readonly name: string; readonly handle: string; readonly avatarUrl: string | null };
  readonly kyc: {
    /** 0 to 3. */
    readonly kycTier: number;
    readonly kycStatus: KycStatus;
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
}

/** A scope. */
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
