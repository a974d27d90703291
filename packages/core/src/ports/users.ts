import type { IncomingMessage, ServerResponse } from 'node:http';

/** Status of a user's identity check. */
export type KycStatus = 'approved' | 'pending' | 'rejected';

/** Tier and status of a user's identity check. */
export interface KycState {
  readonly kycStatus: KycStatus;
  readonly kycTier: 0 | 1 | 2 | 3;
}

/** A credential that a user holds, such as a certificate. Times are ISO 8601. */
export interface ActiveCredential {
  readonly id: string;
  readonly type: string;
  readonly issuedAt: string;
  readonly expiresAt: string | null;
}

/** Custom claims of the host application, with values of any type. */
export type AnyClaims = { readonly [claim: string]: unknown };

/**
 * A user as the host application returns it. `sub` is always required. The fields of `wallet:balance` and
 * `identity` are required if an approved scope shows them (see the table of scopes). All other fields are
 * optional. Values are checked before they are sent to apps.
 */
export interface UserRecord<Claims = AnyClaims> {
  /** The user's id, stable and never reassigned: 1 to 255 printable ASCII characters (OpenID Connect Core, section 2). */
  readonly sub: string;
  /**
   * The user's public id in this service: 1 to 255 printable ASCII characters. Without it, apps and partners
   * get `sub` as `kid`.
   */
  readonly kid?: string | null | undefined;
  /**
   * Role of the user in the host application's own words, such as `member`. Left out of responses if missing,
   * as are `country`, `createdAt`, `name`, `handle`, `avatarUrl`, `kycTier` and `kycStatus`.
   */
  readonly role?: string | null | undefined;
  /** Country of the user: ISO 3166-1 alpha-2, upper case. */
  readonly country?: string | null | undefined;
  /** Time at which the user joined: ISO 8601, UTC. */
  readonly createdAt?: string | null | undefined;
  /** Full name of the user. */
  readonly name?: string | null | undefined;
  /** Public name of the user in this service. */
  readonly handle?: string | null | undefined;
  /** URL of the user's picture; `null` if there is none. */
  readonly avatarUrl?: string | null | undefined;
  /** Level of identity that was verified, from 0 to 3. */
  readonly kycTier?: 0 | 1 | 2 | 3 | null | undefined;
  /** Result of the user's identity check. */
  readonly kycStatus?: KycStatus | null | undefined;
  /** Balance in gourdes as a decimal string with two digits, such as `"1250.00"`. */
  readonly htgBalance?: string;
  /** Balance in US dollars as a decimal string with two digits. */
  readonly usdBalance?: string;
  /** Trust score of the user: an integer from 0 to 100. */
  readonly trustScore?: number;
  /** Trust tier of the user, in the host application's own words. */
  readonly trustTier?: string;
  /** Credentials that the user holds at present. */
  readonly activeCredentials?: readonly ActiveCredential[];
  /** Email address, for the scope `email` if the option `scopes` enables it. */
  readonly email?: string | null | undefined;
  readonly emailVerified?: boolean | null | undefined;
  /** Phone number in E.164, such as `+50937000001`, for the scope `phone`. */
  readonly phoneNumber?: string | null | undefined;
  readonly phoneNumberVerified?: boolean | null | undefined;
  /** Postal address, for the scope `address`. */
  readonly address?: PostalAddress | null | undefined;
  /** Locale as BCP 47, such as `ht-HT`, sent if the option `scopes` has `standardProfile`. */
  readonly locale?: string | null | undefined;
  /**
   * Time zone, such as `America/Port-au-Prince`, sent if the option `scopes` has `standardProfile`. The
   * consent page and the page of connected apps show dates in it.
   */
  readonly zoneinfo?: string | null | undefined;
  /**
   * Time of the last change of the profile: ISO 8601, UTC. Sent if the option `scopes` has `standardProfile`.
   */
  readonly updatedAt?: string | null | undefined;
  /**
   * First name of the user, sent if the option `scopes` has `standardProfile`, like all fields up to
   * `birthdate`.
   */
  readonly givenName?: string | null | undefined;
  readonly familyName?: string | null | undefined;
  readonly middleName?: string | null | undefined;
  /** Casual name of the user. */
  readonly nickname?: string | null | undefined;
  /** URL of the user's page in this service: http or https. */
  readonly profile?: string | null | undefined;
  /** URL of the user's own website: http or https. */
  readonly website?: string | null | undefined;
  /** Gender of the user: `female`, `male`, or another word. */
  readonly gender?: string | null | undefined;
  /** Date of birth: `YYYY-MM-DD`, with the year `0000` if it is unknown, or `YYYY`. */
  readonly birthdate?: string | null | undefined;
  /** Claims of the host application's own scopes, by name. */
  readonly claims?: Claims;
}

/** Postal address of a user (OpenID Connect Core, section 5.1.1). */
export interface PostalAddress {
  /** The whole address, with line breaks. */
  readonly formatted?: string | null | undefined;
  readonly streetAddress?: string | null | undefined;
  readonly locality?: string | null | undefined;
  readonly region?: string | null | undefined;
  readonly postalCode?: string | null | undefined;
  readonly country?: string | null | undefined;
}

/** User directory of the host application, from which Ostiary reads users. */
export interface UserDirectory<Claims = AnyClaims> {
  /**
   * Finds a user by id. Return `null` for a user who does not exist, is blocked or was deleted: userinfo,
   * code exchanges and refreshes then refuse the user's tokens and codes, partners cannot verify the user's
   * passports, and the user is not asked for consent. `tokens.verify` and introspection do not call this
   * function; `admin.users.end` revokes the tokens for them too.
   * @param sub - the user's id
   * @param scopes - scopes whose fields are needed, so that costly fields (such as balances) are fetched only
   * if they are shown
   */
  find(
    sub: string,
    scopes: ReadonlySet<string>,
  ): Promise<UserRecord<Claims> | null> | UserRecord<Claims> | null;

  /**
   * Finds a user by public id on behalf of partners. Required for the partner API, which shows the fields of
   * `openid`, `profile` and `kyc`. A result whose public id (`kid`, or `sub` without a `kid`) differs from
   * the requested one is an error of the host application.
   */
  findByKid?(kid: string): Promise<UserRecord | null> | UserRecord | null;

  /**
   * Finds a user by phone number (E.164, such as `+50937000001`) on behalf of partners. Required for the
   * partner API.
   */
  findByPhone?(phone: string): Promise<UserRecord | null> | UserRecord | null;

  /** Decides whether a partner may see this user. @defaultValue every partner may see every user */
  isVisible?(user: UserRecord, partner: string): Promise<boolean> | boolean;
}

/** A user who is signed in at the host application. */
export interface Authentication {
  /** Id of the user, the same that `users.find` receives. */
  readonly sub: string;
  /**
   * Time at which the user last proved their identity, to the millisecond. A time more than a minute in the
   * future is an error of the host application, with which the request fails (500).
   */
  readonly authenticatedAt: Date;
  /**
   * The host application's id of this session, 1 to 255 characters, unchanged until the session ends. Apps
   * get a hash of it as `sid`, in ID tokens and when the session ends.
   * @defaultValue `sid` is derived from `sub` and `authenticatedAt`
   */
  readonly sessionId?: string;
  /**
   * Authentication context class of the sign-in (`acr`; OpenID Connect Core, section 2), such as `urn:example:two-factor`: 1 to 255
   * printable ASCII characters without spaces. Apps get it in ID tokens, resource servers at introspection.
   */
  readonly acr?: string;
  /**
   * Methods of the sign-in (`amr`; RFC 8176), such as `['pwd', 'otp']`: 1 to 16, in the format of `acr`. Apps
   * get them in ID tokens.
   */
  readonly amr?: readonly string[];
}

/** Requirements of an authorization request for the host application's sign-in page. */
export interface LoginRequest {
  /**
   * True if the user must enter credentials even when signed in: because of `prompt=login`, `max_age` or a
   * requested authentication context class, or to sign in as another user.
   */
  readonly reauthenticate: boolean;
  /**
   * The app that requests authorization, for the login page to show where the user goes next. The
   * administrator set its `name`; for a client with a metadata document, `name` is the host of the document's
   * URL. Missing if the sign-in is for the page of connected apps.
   */
  readonly client?: { readonly clientId: string; readonly name: string };
  /**
   * URL for a user who does not want to sign in, present if `client` is. A link to this URL opens a page that
   * asks for confirmation. A form posted to it from a page on the origin of `authUrl` returns to the app at
   * once with `access_denied`. Works once, and only in the browser that was sent to the login page.
   */
  readonly cancelUrl?: string;
  /** Suggested value of the user-name field (OpenID Connect Core, section 3.1.2.1). */
  readonly loginHint?: string;
  /** Preferred languages of the user, most wanted first (BCP 47). */
  readonly uiLocales?: readonly string[];
  /**
   * Authentication context classes that the app requests (`acr_values`, or `acr` of the parameter `claims`), most
   * wanted first. Sign the user in so that `authenticate` returns one of them as `acr`.
   */
  readonly acrValues?: readonly string[];
}

/** Login of the host application: the functions with which Ostiary uses it. */
export interface Login {
  /**
   * Returns the user who is signed in in the browser that sent this request; `null` if there is none. Called
   * on every authorize, consent, logout and connected-apps request. The result is final: Ostiary's own
   * cookies never keep a user signed in.
   */
  authenticate(request: IncomingMessage): Promise<Authentication | null> | Authentication | null;

  /**
   * Values of `acr` that `authenticate` can return, for the metadata document. If an app requests one of them
   * and the user's sign-in has no requested class, the user is sent to `loginUrl` again, with
   * `reauthenticate`.
   * @defaultValue none: requested classes are passed to `loginUrl` only if the user must sign in anyway
   */
  readonly acrValues?: readonly string[];

  /**
   * Returns the URL of the host application's sign-in page. That page must send the browser to `returnTo`
   * afterwards.
   */
  loginUrl(returnTo: string, request: LoginRequest): Promise<string> | string;

  /**
   * Signs the user of this browser out: ends the host application's session, and sets headers that remove its
   * cookie. Must not send a response. Providing this function enables OpenID Connect RP-Initiated Logout 1.0,
   * so that apps can send users to Ostiary to sign out, and Back-Channel Logout 1.0, so that apps are
   * notified when a user has signed out.
   */
  signOut?(request: IncomingMessage, response: ServerResponse): Promise<void> | void;
}
