import type { StaffRefusal } from '@ostiary/console';
import type { OperatorRole } from '@ostiary/core';
import type { Database } from '../database/database.ts';

/** Roles of staff, the one with the fewest rights first. */
export const staffRoles = ['viewer', 'support', 'admin', 'owner'] as const satisfies readonly OperatorRole[];

/** Time for which an invitation link works, in milliseconds. */
export const linkLifetimeMs = 24 * 3_600_000;

/** A person who runs the service (staff member). */
export interface StaffMember {
  readonly id: string;
  readonly email: string;
  readonly role: OperatorRole;
  readonly createdAt: Date;
  readonly disabledAt: Date | null;
  /** True if the person has set up a password or a passkey. A disabled person cannot sign in with them. */
  readonly hasJoined: boolean;
}

/** A link that lets one person set up a sign-in once. */
export interface StaffLink {
  readonly member: StaffMember;
  /** Secret part of the invitation link. */
  readonly token: string;
  readonly endsAt: Date;
}

/** A passkey in its stored form. */
export interface StoredPasskey {
  readonly id: string;
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly counter: number;
}

/** Error for a request that cannot be fulfilled. The message is for the caller. */
export class StaffError extends Error {
  override readonly name = 'StaffError';
  /** Code of the refusal's reason, for pages in other languages; `null` if those pages need no code. */
  readonly reason: StaffRefusal['refused'] | null;

  constructor(message: string, reason: StaffRefusal['refused'] | null = null) {
    super(message);
    this.reason = reason;
  }
}

/** Error for an address that no staff member has. */
export class UnknownStaffError extends StaffError {}

/** A staff member in stored form. */
export interface StaffRow {
  readonly id: string;
  readonly email: string;
  readonly role: OperatorRole;
  readonly passwordHash: string | null;
  readonly totp: string | null;
  readonly createdAt: number;
  readonly disabledAt: number | null;
  readonly passkeys: number;
}

export const selectStaff = `
  SELECT id, email, role, password_hash AS "passwordHash", totp, created_at AS "createdAt",
    disabled_at AS "disabledAt",
    (SELECT count(*) FROM app_staff_passkeys AS p WHERE p.staff_id = s.id) AS passkeys
  FROM app_staff AS s`;

export const toMember = ({
  id,
  email,
  role,
  passwordHash,
  createdAt,
  disabledAt,
  passkeys,
}: StaffRow): StaffMember => ({
  ...{ id, email, role, createdAt: new Date(createdAt) },
  disabledAt: disabledAt === null ? null : new Date(disabledAt),
  hasJoined: passwordHash !== null || Number(passkeys) > 0,
});

/** Finds staff members. */
export type StaffRows = ReturnType<typeof createStaffRows>;

export function createStaffRows(database: Database) {
  const [own, given] = ['email', ':email'].map(database.caseless);
  const find = (queries: Pick<Database, 'get'>, email: string): Promise<StaffRow | undefined> =>
    queries.get<StaffRow>(`${selectStaff} WHERE ${own} = ${given}`, { email });

  async function require(queries: Pick<Database, 'get'>, email: string): Promise<StaffRow> {
    const row = await find(queries, email);
    if (row === undefined) throw new UnknownStaffError(`there is no staff member ${JSON.stringify(email)}`);
    return row;
  }

  async function get(id: string): Promise<StaffMember | null> {
    const row = await database.get<StaffRow>(`${selectStaff} WHERE id = :id`, { id });
    return row === undefined ? null : toMember(row);
  }

  return {
    find,
    require,
    get,
    list: async (): Promise<readonly StaffMember[]> =>
      (await database.all<StaffRow>(`${selectStaff} ORDER BY ${own}`)).map(toMember),
  };
}
