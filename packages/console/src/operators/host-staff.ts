import type { Administration } from '@ostiary/core/admin';

/** A person who may open the operators' pages. */
export interface StaffAccount {
  /** Id of the person, which never changes: 1 to 100 of A-Z, a-z, 0-9, `_` and `-`. */
  readonly id: string;
  /** Name by which the audit log knows the person, such as an e-mail address. */
  readonly name: string;
  /** Role of the person, one of {@link OperatorStaff.roles}. */
  readonly role: string;
  readonly state: 'active' | 'invited' | 'disabled';
  readonly createdAt: Date;
}

/** Link with which one person sets up a sign-in. The page shows the link once. */
export interface StaffInvitation {
  /** Id of the person. */
  readonly id: string;
  readonly link: string;
}

/**
 * Reason why a change of the staff is refused: `invalid` for an invalid e-mail address, `taken` for the
 * address of another person, and `last_owner` if nobody else could manage the staff afterwards.
 */
export interface StaffRefusal {
  readonly refused: 'invalid' | 'taken' | 'last_owner';
}

/**
 * Functions of the host application with which the operators' pages manage the people who may open these
 * pages. Operators need the right `service`. Every function that changes something gets the administrative
 * calls on behalf of the operator, to record the act with `admin.audit.record`.
 */
export interface OperatorStaff {
  /** Names of the roles that a person can have, the role with the fewest rights first. */
  readonly roles: readonly string[];
  list(): Promise<readonly StaffAccount[]>;
  /** Adds a person to the staff, and makes a link with which the person sets up a sign-in. */
  invite(
    person: { readonly name: string; readonly role: string },
    admin: Administration,
  ): Promise<StaffInvitation | StaffRefusal>;
  changeRole(id: string, role: string, admin: Administration): Promise<StaffRefusal | null>;
  /** Disables a person of the staff: ends the sessions, and prevents the person from signing in again. */
  disable(id: string, admin: Administration): Promise<StaffRefusal | null>;
  /** Ends the sessions of a person of the staff. The person may sign in again. */
  endSessions(id: string, admin: Administration): Promise<StaffRefusal | null>;
  /**
   * Removes all ways in which a person signs in, and makes a link for a new sign-in. If the person was
   * disabled, enables the person.
   */
  reset(id: string, admin: Administration): Promise<StaffInvitation | StaffRefusal>;
}
