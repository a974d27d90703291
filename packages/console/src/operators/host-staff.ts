import type { Administration } from '@ostiary/core/admin';

/** A person who may open the operators' pages. */
export interface StaffAccount {
  /** Id of the person, which never changes: 1 to 100 of A-Z, a-z, 0-9, `_` and `-`. */
  readonly id: string;
  /** Name by which the audit log knows the person, such as an e-mail address. */
  readonly name: string;
  /** One of {@link OperatorStaff.roles}. */
  readonly role: string;
  readonly state: 'active' | 'invited' | 'disabled';
  readonly createdAt: Date;
}

/** Link that lets one person set up a sign-in. The page shows it once. */
export interface StaffInvitation {
  /** Id of the person. */
  readonly id: string;
  readonly link: string;
}

/**
 * Refusal of a change: `invalid` for an address that is none, `taken` for one that another person has, and `last_owner`
 * if nobody else could manage the staff afterwards.
 */
export interface StaffRefusal {
  readonly refused: 'invalid' | 'taken' | 'last_owner';
}

/**
 * Functions of the host with which the operators' pages manage the people who may open them. Operators need the right
 * `service`. Every function that changes something gets the administrative calls on behalf of the operator, to record
 * the act with `admin.audit.record`.
 */
export interface OperatorStaff {
  /** Names of the roles that a person can have, the one with the fewest rights first. */
  readonly roles: readonly string[];
  list(): Promise<readonly StaffAccount[]>;
  /** Adds a person. */
  invite(
    person: { readonly name: string; readonly role: string },
    admin: Administration,
  ): Promise<StaffInvitation | StaffRefusal>;
  changeRole(id: string, role: string, admin: Administration): Promise<StaffRefusal | null>;
  /** Ends the sessions of a person, who cannot sign in again. */
  disable(id: string, admin: Administration): Promise<StaffRefusal | null>;
  /** Ends the sessions of a person, who can sign in again. */
  endSessions(id: string, admin: Administration): Promise<StaffRefusal | null>;
  /** Removes all ways in which a person signs in, and makes a link for a new one. Enables a disabled person. */
  reset(id: string, admin: Administration): Promise<StaffInvitation | StaffRefusal>;
}
