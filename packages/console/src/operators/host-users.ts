import type { Administration } from '@ostiary/core/admin';
import type { KycState } from '@ostiary/core/console';

/** A user of the host application, as operators see them. */
export interface OperatorUser {
  /** Id of the user, as `login` and `users` of the host application use it. */
  readonly sub: string;
  readonly name: string;
  /** Id of the user that partners see. */
  readonly kid?: string;
  readonly handle?: string;
  /** Phone number of the user (E.164). */
  readonly phone?: string;
  /** E-mail address of the user; `null` if the user has none. */
  readonly email?: string | null;
  readonly createdAt?: Date;
  /** Time at which the user was blocked; `null` if the user is not blocked. */
  readonly blockedAt?: Date | null;
  /** State of the user's identity check. */
  readonly kyc?: KycState;
  /** Number of browsers in which the user is signed in. */
  readonly sessions?: number;
}

/**
 * Functions of the host application with which the operators' pages find and change users. Pages leave out
 * acts for which the function is missing. Every function that changes a user gets the administrative calls on
 * behalf of the operator, to record the act with `admin.audit.record` and to end the access of apps.
 */
export interface OperatorUsers {
  /**
   * Finds users by a part of a name, or by a handle, phone number, e-mail address or id. An empty text
   * lists all users.
   * @param request - `after` is the `next` of the previous page
   */
  search(request: {
    readonly text: string;
    readonly after: string | null;
    readonly limit: number;
  }): Promise<{ readonly users: readonly OperatorUser[]; readonly next: string | null }>;
  find(sub: string): Promise<OperatorUser | null>;
  /** Blocks a user: ends all sessions and the access of every app. */
  block?(sub: string, admin: Administration): Promise<unknown>;
  unblock?(sub: string, admin: Administration): Promise<unknown>;
  /** Signs the user out of every browser. */
  endSessions?(sub: string, admin: Administration): Promise<unknown>;
  /** Changes the identity check of a user, and notifies partners. */
  changeKyc?(sub: string, changes: KycState, admin: Administration): Promise<unknown>;
}
