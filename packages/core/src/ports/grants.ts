import type { AuditRecord } from './audit.ts';
import type { NewJob } from './queue.ts';

/** Claims that all ID tokens of a grant contain in addition to the fixed ones. */
export interface IdTokenDetails {
  /** Authentication context class of the sign-in. */
  readonly acr?: string;
  /** Authentication methods of the sign-in. */
  readonly amr?: readonly string[];
  /** Names of the user's claims that the client requested and the approved scopes cover. */
  readonly claims?: readonly string[];
}

/**
 * The result of one consent flow for one client: an authorization code and everything that is issued for it.
 * Each authorization has its own grant, identified by the SHA-256 digest of its code. Times are milliseconds
 * since the Unix epoch.
 */
export interface GrantRecord {
  readonly codeDigest: Uint8Array;
  readonly clientId: string;
  readonly sub: string;
  readonly scopes: readonly string[];
  /**
   * URIs of the resources that the authorization request named (RFC 8707), at least one; `null` if it named
   * none.
   */
  readonly resources: readonly string[] | null;
  readonly redirectUri: string;
  /** PKCE challenge, base64url of a SHA-256 (RFC 7636), or `null` when the request had none. */
  readonly codeChallenge: string | null;
  readonly nonce: string | null;
  /**
   * Thumbprint of the key to which the code is bound (RFC 9449, section 10); `null` if it is not bound. After
   * the code was exchanged: thumbprint of the key to which its access token was bound, and with which a
   * public client must use its refresh tokens.
   */
  readonly dpopJkt: string | null;
  /** Time at which the user signed in, in milliseconds since the Unix epoch. */
  readonly authenticatedAt: number;
  /** Session id of the user's sign-in that apps see as `sid`. */
  readonly sid: string;
  /**
   * Additional claims of the grant's ID tokens, which a store keeps without interpreting them, except that
   * `findToken` returns `acr`; `null` if there are none.
   */
  readonly idTokenDetails: IdTokenDetails | null;
  readonly issuedAt: number;
  /** Time at which the authorization code expires. The tokens of the grant have their own expiry. */
  readonly expiresAt: number;
}

/** A grant as read from storage, with the state of its code. */
export interface GrantState extends GrantRecord {
  /** Time at which the authorization code was exchanged; `null` if it was not. */
  readonly consumedAt: number | null;
  readonly revokedAt: number | null;
  /** Number of exchanges of the code with a wrong PKCE verifier. */
  readonly failedVerifiers: number;
}

/** The access token that a redemption or a refresh stores. */
export interface NewAccessToken {
  /** SHA-256 of the access token. */
  readonly digest: Uint8Array;
  readonly issuedAt: number;
  readonly expiresAt: number;
  /**
   * Scopes of the token, if they are fewer than the grant's; `null` if the token has all of the grant's
   * scopes.
   */
  readonly scopes: readonly string[] | null;
  /**
   * Resources of the token, if they are fewer than the grant's; `null` if the token has all of the grant's
   * resources.
   */
  readonly resources: readonly string[] | null;
  /** Thumbprint of the key to which the token is bound; `null` for a bearer token. */
  readonly dpopJkt: string | null;
}

/** Digests by which the storage identifies a refresh token. */
export interface RefreshTokenDigests {
  /** SHA-256 of the refresh token. */
  readonly digest: Uint8Array;
  /**
   * SHA-256 of the part that all refresh tokens of a grant share. It identifies a replaced token although no
   * row is kept for that token.
   */
  readonly family: Uint8Array;
}

/** Refresh token that is stored when an authorization code is exchanged. */
export interface NewRefreshToken extends RefreshTokenDigests {
  readonly expiresAt: number;
}

/**
 * Result of presenting a refresh token:
 *
 * - `refreshed`: a new access token is stored; the successor may have been returned to concurrent calls too;
 * - `unknown_successor`: the token may still be used, but the caller can derive none of its successors;
 * - `replayed`: the token was replaced before, so its grant was revoked;
 * - `refused`: the token is unknown or expired, or its grant was revoked or its client disabled.
 */
export type RefreshResult =
  | {
      readonly outcome: 'refreshed';
      /** SHA-256 of the refresh token that replaces the presented one. */
      readonly successor: Uint8Array;
    }
  | { readonly outcome: 'unknown_successor' | 'replayed' | 'refused' };

/** An access token joined with its grant, as read on every use of the token. */
export interface AccessTokenState {
  readonly clientId: string;
  readonly sub: string;
  /** Scopes for which the token was issued; they may be fewer than the grant's. */
  readonly scopes: readonly string[];
  /**
   * Resources for which the token was issued, which may be fewer than the grant's; `null` if there are none.
   */
  readonly resources: readonly string[] | null;
  readonly expiresAt: number;
  /** Thumbprint of the key to which the token is bound; `null` for a bearer token. */
  readonly dpopJkt: string | null;
  /** True if the token itself or its grant was revoked. */
  readonly revoked: boolean;
  /** Time at which the user signed in. */
  readonly authenticatedAt: number;
  /** Authentication context class of the user's sign-in; `null` if it has none. */
  readonly acr: string | null;
}

/** A stored consent of a user to a client. Times are milliseconds since the Unix epoch. */
export interface ConsentRecord {
  readonly sub: string;
  readonly clientId: string;
  /**
   * Scopes that the user approved, URIs of approved resources, and for each approved scope of a resource the
   * scope and the URI, separated by a space. A scope's name never equals a URI, and neither contains a space.
   */
  readonly scopes: readonly string[];
  /**
   * Optional scopes that the user left out when last asked for them; for each one of a resource also the
   * scope and the URI, separated by a space. None of them is among `scopes`.
   */
  readonly declined: readonly string[];
  readonly grantedAt: number;
  readonly updatedAt: number;
  /**
   * Time at which a grant was last issued because of this consent; `null` if none was. May be up to an hour
   * too early, so that most sign-ins need not write it.
   */
  readonly usedAt: number | null;
}

/** Stores grants with their authorization codes, and the access and refresh tokens issued for them. */
export interface GrantStore {
  /**
   * Stores a grant with its code. The same transaction checks that neither the client nor its partner is
   * disabled, and that an unrevoked consent of this user and client includes every scope and resource. Returns
   * `false` and stores nothing if that does not hold, for example because the user has just revoked the app.
   * Also updates the consent's {@link ConsentRecord.usedAt}, which never goes back in time.
   */
  issue(grant: GrantRecord): Promise<boolean>;

  find(codeDigest: Uint8Array): Promise<GrantState | null>;

  /**
   * Marks the authorization code as used and stores its access token in one transaction. Of any number of
   * calls for one code, over any number of processes, exactly one returns `redeemed`.
   *
   * - `redeemed`: the code was unused, unexpired at `now` (`expiresAt > now`) and not revoked, fewer than
   *   `maxFailedVerifiers` wrong verifiers had been presented, and neither its client nor the client's partner is
   *   disabled.
   * - `replayed`: the code had been used before. The same transaction revokes the grant with every token of this code,
   *   including a token that a concurrent redemption is just storing.
   * - `refused`: anything else; nothing was changed.
   */
  redeem(redemption: {
    readonly codeDigest: Uint8Array;
    readonly token: NewAccessToken;
    /** Refresh token to store with the access token; `null` stores none. */
    readonly refreshToken: NewRefreshToken | null;
    readonly maxFailedVerifiers: number;
    readonly now: number;
  }): Promise<'redeemed' | 'replayed' | 'refused'>;

  /**
   * Returns the grant of a refresh token, found by the token's family, in any state of both. Returns `null` if no
   * token of the family is stored any more. Runs one statement.
   */
  findRefreshToken(token: Pick<RefreshTokenDigests, 'family'>): Promise<GrantState | null>;

  /**
   * Replaces a refresh token by its successor in the same family and stores an access token, in one
   * transaction. A grant has at most one valid refresh token, for any number of concurrent calls and
   * processes. Keeps two refresh tokens of the family (the valid one and its predecessor) and the newest
   * `maxAccessTokens` access tokens of the grant. If `successor` has the digest of the presented token, a valid
   * token is not replaced: it stays valid until the `expiresAt` of `successor`.
   *
   * - `refreshed`: the token was valid, and `successor` is now stored. Or the token was first used at most `graceMs`
   *   before or after `now`, and its stored successor is still valid and is `successor` or one of `otherSuccessors`: the
   *   stored successor stays and is returned. In both cases the grant was not revoked, the token had not expired
   *   (`expiresAt > now`), and neither its client nor the client's partner is disabled.
   * - `unknown_successor`: as the second case, but the stored successor is none of the given ones; nothing was changed.
   * - `replayed`: the token's successor was replaced too, or its first use was more than `graceMs` before or
   *   after `now`, or the token is not stored while another token of its family is. The same transaction
   *   revokes the grant with all its tokens, and no other grant.
   * - `refused`: anything else; nothing was changed.
   */
  refresh(refresh: {
    readonly presented: RefreshTokenDigests;
    readonly successor: Pick<NewRefreshToken, 'digest' | 'expiresAt'>;
    /**
     * SHA-256 digests of the replacement tokens that another process may have stored, each derived with
     * another key.
     */
    readonly otherSuccessors: readonly Uint8Array[];
    readonly token: NewAccessToken;
    readonly graceMs: number;
    readonly maxAccessTokens: number;
    readonly now: number;
  }): Promise<RefreshResult>;

  /** Adds one to the count of wrong PKCE verifiers of a grant. Concurrent calls all count. */
  recordFailedVerifier(codeDigest: Uint8Array): Promise<void>;

  /**
   * Revokes a grant with its code and tokens. Other grants stay as they are. Has no effect if the grant is
   * unknown or already revoked.
   */
  revoke(codeDigest: Uint8Array, now: number): Promise<void>;

  /**
   * Returns an access token in any state until it is purged; `null` if it is not stored. Runs one statement.
   */
  findToken(tokenDigest: Uint8Array): Promise<AccessTokenState | null>;

  /**
   * Revokes this access token only. Returns its client, or `null` for an unknown token. Repeated calls have
   * no further effect.
   */
  revokeToken(tokenDigest: Uint8Array, now: number): Promise<{ readonly clientId: string } | null>;
}

/** Stores consents that users gave, which are remembered until they are revoked. */
export interface ConsentStore {
  find(sub: string, clientId: string): Promise<ConsentRecord | null>;

  /** Lists the unrevoked consents of a user, latest `updatedAt` first, then by client id. */
  list(sub: string): Promise<ConsentRecord[]>;

  /**
   * Adds scopes to the unrevoked consent of this user and client, or creates a consent. Concurrent calls lose
   * no scope. Returns `false` and stores nothing if the client is unknown, or if it or its partner is
   * disabled.
   *
   * Scopes in `declined` are taken out of the consent. The same transaction revokes the grants of this user
   * and client that include one of them.
   *
   * If the call creates the consent, because there was no unrevoked one, the same transaction enqueues `jobs` as
   * `queue.enqueue` does.
   */
  remember(consent: {
    readonly sub: string;
    readonly clientId: string;
    readonly scopes: readonly string[];
    /** Optional scopes that the user left out, none of them among `scopes`. @defaultValue none */
    readonly declined?: readonly string[];
    /** Jobs to enqueue if the call creates the consent. @defaultValue none */
    readonly jobs?: readonly NewJob[];
    readonly now: number;
  }): Promise<boolean>;

  /**
   * Imports consents that users gave in another system, in one transaction. Skips a consent if this user and
   * client have or had one, so that a revoked consent does not come back, and if `remember` would refuse it.
   * Returns the number of stored consents.
   */
  adopt(
    consents: readonly Pick<ConsentRecord, 'sub' | 'clientId' | 'scopes' | 'grantedAt'>[],
    audit?: AuditRecord,
  ): Promise<number>;

  /**
   * Revokes the consent and every grant of this user and client in one transaction. Returns `false` if there
   * was no unrevoked consent; the grants are revoked anyway.
   */
  revoke(sub: string, clientId: string, now: number): Promise<boolean>;

  /**
   * Restores the consent of this user and client that was revoked last, if that was at `revokedSince` or
   * later. Grants stay revoked. Returns `false` and changes nothing if there is no such consent or an
   * unrevoked one, or if the client or its partner is disabled.
   */
  restore(consent: {
    readonly sub: string;
    readonly clientId: string;
    /** Earliest time of the revocation, in milliseconds since the Unix epoch. */
    readonly revokedSince: number;
  }): Promise<boolean>;

  /**
   * Checks whether the user has an unrevoked consent with this scope for an enabled client of this enabled
   * partner. Runs one statement.
   */
  partnerHolds(request: {
    readonly partner: string;
    readonly sub: string;
    readonly scope: string;
  }): Promise<boolean>;

  /**
   * Revokes all consents and grants of this user and enqueues `jobs` as `queue.enqueue` does, in one
   * transaction.
   */
  endUser(sub: string, now: number, jobs: readonly NewJob[], audit?: AuditRecord): Promise<void>;
}
