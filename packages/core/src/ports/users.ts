import type { IncomingMessage, ServerResponse } from 'node:http';

/** State of a user's identity check. */
export type KycStatus = 'approved' | 'pending' | 'rejected';

/** The state of a user's identity check. */
export interface KycState {
  readonly kycStatus: KycStatus;
  readonly kycTier: 0 | 1 | 2 | 3;
}

/** A credential that a user holds. Times are ISO 8601. */
export interface ActiveCredential {
  readonly id: string;
  readonly type: string;
  readonly issuedAt: string;
  readonly expiresAt: string | null;
}

/** Claims of the host with any value. */
export type AnyClaims = { readonly [claim: string]: unknown };

/**
 * A user as the host knows it. `sub` is always there. Other fields are needed only when a scope that shows them was approved
 * (see the scope table), and those of `openid` and `profile`, `name` aside, may be missing. What the host returns is checked
 * before it is sent on.
 */
export interface UserRecord<Claims = AnyClaims> {
  /** The user's id, stable and never reassigned: 1 to 255 printable ASCII characters (OpenID Connect Core, section 2). */
  readonly sub: string;
  /** The user's public id in this service: 1 to 255 printable ASCII characters. Without it, partners see `sub`. */
  readonly kid?: string | null | undefined;
  /**
   * A word of your own, such as `member`. Left out of answers where it is missing, as `country`, `createdAt`, `name`, `handle`,
   * `avatarUrl`, `kycTier` and `kycStatus` are.
   */
  readonly role?: string | null | undefined;
  /** ISO 3166-1 alpha-2, upper case. */
  readonly country?: string | null | undefined;
  /** ISO 8601, UTC. */
  readonly createdAt?: string | null | undefined;
  /** The full name. */
  readonly name?: string | null | undefined;
  /** The name under which others know the user in this service. */
  readonly handle?: string | null | undefined;
  /** The URL of a picture; `null` for a user without one. */
  readonly avatarUrl?: string | null | undefined;
  /** Progress of the identity check. */
  readonly kycTier?: 0 | 1 | 2 | 3 | null | undefined;
  /** Result of the identity check. */
  readonly kycStatus?: KycStatus | null | undefined;
  /** Decimal string with two digits, such as `"1250.00"`. */
  readonly htgBalance?: string;
  /** Decimal string with two digits. */
  readonly usdBalance?: string;
  /** Integer, 0 to 100. */
  readonly trustScore?: number;
  /** A word of your own. */
  readonly trustTier?: string;
  /** Credentials that the user holds at present. */
  readonly activeCredentials?: readonly ActiveCredential[];
  /** For the scope `email`, where the option `scopes` has it. */
  readonly email?: string | null | undefined;
  readonly emailVerified?: boolean | null | undefined;
  /** E.164, such as `+50937000001`; for the scope `phone`. */
  readonly phoneNumber?: string | null | undefined;
  readonly phoneNumberVerified?: boolean | null | undefined;
  /** For the scope `address`. */
  readonly address?: PostalAddress | null | undefined;
  /** BCP 47, such as `ht-HT`; for `standardProfile`, as are the two that follow. */
  readonly locale?: string | null | undefined;
  /** A time zone, such as `America/Port-au-Prince`. The page of connected apps shows its dates in it. */
  readonly zoneinfo?: string | null | undefined;
  /** Time of the last change of the profile: ISO 8601, UTC. */
  readonly updatedAt?: string | null | undefined;
  /** The claims of your own scopes, by name. */
  readonly claims?: Claims;
}

/** Postal address of a user (OpenID Connect Core, section 5.1.1). */
export interface PostalAddress {
  /** All of it, with line breaks. */
  readonly formatted?: string | null | undefined;
  readonly streetAddress?: string | null | undefined;
  readonly locality?: string | null | undefined;
  readonly region?: string | null | undefined;
  readonly postalCode?: string | null | undefined;
  readonly country?: string | null | undefined;
}

/** The host's user directory. */
export interface UserDirectory<Claims = AnyClaims> {
  /**
   * Finds a user. Return `null` for a user who does not exist, is blocked or deleted: the user's tokens then
   * stop working, and no consent is requested.
   * @param sub - the user's id
   * @param scopes - the approved scopes, so that costly fields (balances) are fetched only when they are
   * shown
   */
  find(
    sub: string,
    scopes: ReadonlySet<string>,
  ): Promise<UserRecord<Claims> | null> | UserRecord<Claims> | null;

  /**
   * Finds a user by public id, for partners. Required for the partner API. The fields of `openid`, `profile`
   * and `kyc` are shown. A user whose `kid` differs from the requested one is refused, as an error of the
   * host.
   */
  findByKid?(kid: string): Promise<UserRecord | null> | UserRecord | null;

  /**
   * Finds a user by phone number (E.164, such as `+50937000001`), for partners. Required for the partner API.
   */
  findByPhone?(phone: string): Promise<UserRecord | null> | UserRecord | null;

  /** Decides whether a partner may see this user at all. @defaultValue every partner may see every user */
  isVisible?(user: UserRecord, partner: string): Promise<boolean> | boolean;
}

/** The user who is signed in at the host. */
export interface Authentication {
  /** The user's id, the one that `users.find` is asked for. */
  readonly sub: string;
  /**
   * Time at which the user last proved their identity, to the millisecond. A time more than a minute in the
   * future is refused, as an error of the host, and no user is signed in then.
   */
  readonly authenticatedAt: Date;
  /**
   * Your id of this session, the same until it ends: 1 to 255 characters. Apps get a hash of it as `sid`, in
   * ID tokens and when the session ends.
   * @defaultValue `sid` is derived from `sub` and `authenticatedAt`
   */
  readonly sessionId?: string;
}

/** Requirements for the host's sign-in. */
export interface LoginRequest {
  /** Ask for credentials even if the user is signed in (`prompt=login`, `max_age`). */
  readonly reauthenticate: boolean;
  /** The app that asks, for a page that says where the user goes on: its name is the administrator's. None for the page of connected apps. */
  readonly client?: { readonly clientId: string; readonly name: string };
  /**
   * Address for a user who does not want to sign in: a link to it shows a page that asks, and a form that is posted to it, from a page
   * on the origin of `authUrl`, goes back to the app at once, with `access_denied`. Present where `client` is; for the browser that was
   * sent here, and once.
   */
  readonly cancelUrl?: string;
  /** Fills the user-name field (OpenID Connect Core, section 3.1.2.1). */
  readonly loginHint?: string;
  /** Preferred languages, most wanted first (BCP 47). */
  readonly uiLocales?: readonly string[];
}

/** The host's login. */
export interface Login {
  /**
   * Returns the user who is signed in in the browser that sent this request. Called on every authorize,
   * consent and connected-apps request. Its result is the only truth: Ostiary's own cookies never keep a user
   * signed in.
   */
  authenticate(request: IncomingMessage): Promise<Authentication | null> | Authentication | null;

  /** The address of the page where users sign in. It must send the browser to `returnTo` afterwards. */
  loginUrl(returnTo: string, request: LoginRequest): Promise<string> | string;

  /**
   * Signs the user of this browser out: ends your session, and sets headers that remove its cookie. It must
   * not send a response. With this function, apps can send their users here to sign out (OpenID Connect
   * RP-Initiated Logout 1.0), and are notified when a user has signed out (Back-Channel Logout 1.0).
   */
  signOut?(request: IncomingMessage, response: ServerResponse): Promise<void> | void;
}
