import type { OperatorStaff, StaffAccount, StaffInvitation, StaffRefusal } from '@ostiary/console';
import type { OperatorRole } from '@ostiary/core';
import type { Administration } from '@ostiary/core/admin';
import { StaffError, type StaffLink, type StaffMember, staffRoles, UnknownStaffError } from './members.ts';
import type { Staff } from './staff.ts';

function accountOf({ id, email, role, createdAt, disabledAt, hasJoined }: StaffMember): StaffAccount {
  const state = disabledAt !== null ? 'disabled' : hasJoined ? 'active' : 'invited';
  return { id, name: email, role, state, createdAt };
}

/** Writes an act of an operator into the audit log. */
const record = (admin: Administration, action: string, { email, role }: StaffMember): Promise<void> =>
  admin.audit.record({ action, target: `staff:${email}`, details: { role } });

/** Returns the result of a change, or the reason why the change is refused. */
async function unlessRefused<Result>(change: () => Promise<Result>): Promise<Result | StaffRefusal> {
  try {
    return await change();
  } catch (error) {
    if (error instanceof StaffError && error.reason !== null) return { refused: error.reason };
    throw error;
  }
}

const roleOf = (text: string): OperatorRole => staffRoles.find((role) => role === text) ?? 'viewer';

/**
 * Makes the functions with which the operators' pages manage this server's staff, like the command `ostiary
 * staff`.
 */
export function createOperatorStaff(staff: Staff, authUrl: string): OperatorStaff {
  async function emailOf(id: string): Promise<string> {
    const member = await staff.get(id);
    if (member === null) throw new UnknownStaffError('there is no such staff member');
    return member.email;
  }

  /** Makes a change without a result, and records the change in the audit log. */
  const changed = (
    admin: Administration,
    action: string,
    change: () => Promise<StaffMember>,
  ): Promise<StaffRefusal | null> =>
    unlessRefused(async () => {
      await record(admin, action, await change());
      return null;
    });

  /** Makes a sign-in link for a staff member, and records this act, without the link, in the audit log. */
  const linked = (
    admin: Administration,
    action: string,
    make: () => Promise<StaffLink>,
  ): Promise<StaffInvitation | StaffRefusal> =>
    unlessRefused(async () => {
      const { member, token } = await make();
      await record(admin, action, member);
      return { id: member.id, link: `${authUrl}/staff/join?link=${token}` };
    });

  return {
    roles: staffRoles,
    list: async () => (await staff.list()).map(accountOf),
    invite: ({ name, role }, admin) => linked(admin, 'staff.invite', () => staff.invite(name, roleOf(role))),
    changeRole: (id, role, admin) =>
      changed(admin, 'staff.role', async () => staff.changeRole(await emailOf(id), roleOf(role))),
    disable: (id, admin) => changed(admin, 'staff.disable', async () => staff.disable(await emailOf(id))),
    endSessions: (id, admin) =>
      changed(admin, 'staff.end_sessions', async () => staff.endSessions(await emailOf(id))),
    reset: (id, admin) => linked(admin, 'staff.reset', async () => staff.reset(await emailOf(id))),
  };
}
