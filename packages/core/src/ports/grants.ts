import type { AuditRecord } from './audit.ts';
import type { NewJob } from './queue.ts';
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
  readonly redirectUri: string;
  /** PKCE challenge, base64url of a SHA-256 (RFC 7636), or `null` when the request had none. */
  readonly codeChallenge: string | null;
  readonly nonce: string | null;
  /** Time at which the user signed in. */
  readonly authenticatedAt: number;
  /** Session id of that sign-in for apps (`sid`). */
  readonly sid: string;
  readonly issuedAt: number;
  /** End of the code, not of its tokens. */
  readonly expiresAt: number;
}

/** A grant as it is read back. */
export interface GrantState extends GrantRecord {
  /** Time at which the code was exchanged. */
  readonly consumedAt: number | null;
  readonly revokedAt: number | null;
  /** Number of exchanges with a wrong PKCE verifier. */
  readonly failedVerifiers: number;
}

/** The access token that a redemption or a refresh stores. */
export interface NewAccessToken {
  /** SHA-256 of the token. */
  readonly digest: Uint8Array;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** A refresh token as the storage knows it. */
export interface RefreshTokenDigests {
  /** SHA-256 of the token. */
  readonly digest: Uint8Array;
  /**
   * SHA-256 of the part that all refresh tokens of a grant share, which identifies a replaced token without a
   * row for it.
   */
  readonly family: Uint8Array;
}

/** The refresh token that a redemption stores. */
export interface NewRefreshToken extends RefreshTokenDigests {
  readonly expiresAt: number;
}

/**
 * Result of presenting a refresh token:
 *
 * - `refreshed`: an access token was stored beside the successor, which other calls may have been given too;
 * - `unknown_successor`: the token may be presented again, but its successor is none of those that the caller can derive;
 * - `replayed`: the token was replaced before; its grant is revoked;
 * - `refused`: the token is unknown or expired, or its grant has ended.
 */
export type RefreshResult =
  | { readonly outcome: 'refreshed' /** SHA-256 of the successor. */; readonly successor: Uint8Array }
  | { readonly outcome: 'unknown_successor' | 'replayed' | 'refused' };

/** An access token joined with its grant, as every use of the token reads it. */
export interface AccessTokenState {
  readonly clientId: string;
  readonly sub: string;
  /** Scopes for which it was issued; they may be fewer than the grant's. */
  readonly scopes: readonly string[];
  readonly expiresAt: number;
  /** `true` when the token itself or its grant was revoked. */
  readonly revoked: boolean;
}

/** A remembered consent. Times are milliseconds since the Unix epoch. */
export interface ConsentRecord {
  readonly sub: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly grantedAt: number;
  readonly updatedAt: number;
  /**
   * Time at which a grant was last issued for it. It may be up to an hour earlier, so that most sign-ins do
   * not write it; `null`: never.
   */
  readonly usedAt: number | null;
}

/** Grants with their codes, and the access tokens that were issued for them. */
export interface GrantStore {
  /**
   * Stores a grant with its code, in one transaction with the check that neither the client nor its partner is
   * disabled and that an unrevoked consent of this user and client includes every scope. `false` when that does not
   * hold (somebody revoked the app in the meantime); nothing is stored then. Notes in the consent that it was used, see
   * {@link ConsentRecord.usedAt}, which never goes back in time.
   */
  issue(grant: GrantRecord): Promise<boolean>;

  find(codeDigest: Uint8Array): Promise<GrantState | null>;

  /**
   * Consumes the code and stores its access token in one transaction: of any number of calls for one
   * code, over any number of processes, exactly one answers `redeemed`.
   *
   * - `redeemed`: the code was unused, alive at `now` (`expiresAt > now`), not revoked, had fewer than
   *   `maxFailedVerifiers` wrong verifiers, and neither its client nor the partner of that is disabled.
   * - `replayed`: it had been used before. The same transaction revokes the grant, which ends every
   *   token of this code, one that is just being stored by the winner included.
   * - `refused`: anything else; nothing was changed.
   */
  redeem(redemption: {
    readonly codeDigest: Uint8Array;
    readonly token: NewAccessToken;
    /** Stored beside it. `null`: none. */
    readonly refreshToken: NewRefreshToken | null;
    readonly maxFailedVerifiers: number;
    readonly now: number;
  }): Promise<'redeemed' | 'replayed' | 'refused'>;

  /**
   * Finds the grant of a refresh token by its family, whatever the state of both is. `null` if no token of the family is
   * stored any more. One statement.
   */
  findRefreshToken(token: Pick<RefreshTokenDigests, 'family'>): Promise<GrantState | null>;

  /**
   * Replaces a refresh token by its successor, of the same family, and stores an access token, in one
   * transaction. A grant has at most one valid refresh token, for any number of racing calls and processes.
   * Keeps two refresh tokens of the family, the valid one and its predecessor, and the newest
   * `maxAccessTokens` access tokens of the grant.
   *
   * - `refreshed`: the token was live, and `successor` is stored; or it was first used at most `graceMs` before or after `now` and its successor,
   *   which is `successor` or among `otherSuccessors`, is still live: the stored one stays, and is returned. The grant was not
   *   revoked, the token had not ended (`expiresAt > now`), and neither its client nor the partner of that is disabled.
   * - `unknown_successor`: the same, with a live successor that is none of these; nothing was changed.
   * - `replayed`: its successor was replaced too, or its first use is longer ago, or it is not stored and another token of its
   *   family is. The same transaction revokes the grant, which ends every token of the grant and of no other.
   * - `refused`: anything else; nothing was changed.
   */
  refresh(refresh: {
    readonly presented: RefreshTokenDigests;
    readonly successor: Pick<NewRefreshToken, 'digest' | 'expiresAt'>;
    /** SHA-256 of what another process may have stored as the successor, under another key. */
    readonly otherSuccessors: readonly Uint8Array[];
    readonly token: NewAccessToken;
    /** Scopes of the access token. */
    readonly scopes: readonly string[];
    readonly graceMs: number;
    readonly maxAccessTokens: number;
    readonly now: number;
  }): Promise<RefreshResult>;

  /** Counts a wrong PKCE verifier. Atomic: parallel calls all count. */
  recordFailedVerifier(codeDigest: Uint8Array): Promise<void>;

  /**
   * Revokes this grant, its code and its tokens, and no other. Without effect when it is unknown or revoked.
   */
  revoke(codeDigest: Uint8Array, now: number): Promise<void>;

  /** Finds a token in any state, until it is purged. One statement. */
  findToken(tokenDigest: Uint8Array): Promise<AccessTokenState | null>;

  /** Revokes this token only. Answers its client, or `null` for an unknown token. Repeatable. */
  revokeToken(tokenDigest: Uint8Array, now: number): Promise<{ readonly clientId: string } | null>;
}

/** Consents that users gave and that are remembered until they are revoked. */
export interface ConsentStore {
  find(sub: string, clientId: string): Promise<ConsentRecord | null>;

  /** The unrevoked consents of a user, latest `updatedAt` first, then by client id. */
  list(sub: string): Promise<ConsentRecord[]>;

  /**
   * Adds scopes to the unrevoked consent of this user and client, or starts one. Atomic union: parallel calls
   * lose nothing.
   * `false` when the client is unknown, or it or its partner is disabled; nothing is stored then.
   */
  remember(consent: {
    readonly sub: string;
    readonly clientId: string;
    readonly scopes: readonly string[];
    readonly now: number;
  }): Promise<boolean>;

  /**
   * Stores consents that users gave elsewhere, in one transaction. Answers how many: one is left out where there is or was a consent
   * of this user and client, so that nothing that was revoked comes back, and where `remember` would refuse it.
   */
  adopt(
    consents: readonly Pick<ConsentRecord, 'sub' | 'clientId' | 'scopes' | 'grantedAt'>[],
    audit?: AuditRecord,
  ): Promise<number>;

  /**
   * Revokes the consent and every grant of this user and client in one transaction.
   * `false` when there was no unrevoked consent (grants are revoked all the same).
   */
  revoke(sub: string, clientId: string, now: number): Promise<boolean>;

  /**
   * Checks whether a client of this partner, both of them enabled, has an unrevoked consent of the user that
   * includes the scope. One statement.
   */
  partnerHolds(request: {
    readonly partner: string;
    readonly sub: string;
    readonly scope: string;
  }): Promise<boolean>;

  /** Revokes every consent and every grant of this user, and stores `jobs` as `queue.enqueue` does, in one transaction. */
  endUser(sub: string, now: number, jobs: readonly NewJob[], audit?: AuditRecord): Promise<void>;
}
