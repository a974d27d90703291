import { type CommandOutput, type Commands, listOf, value } from '@ostiary/cli';
import type { Administration } from '@ostiary/core/admin';
import type { Installation } from '../installation.ts';
import { type StaffLink, type StaffMember, staffRoles } from '../staff/members.ts';

const roleFlag = value('what the person may do', { required: true, oneOf: staffRoles });

const describe = ({ createdAt, disabledAt, ...member }: StaffMember) => ({
  ...member,
  createdAt: createdAt.toISOString(),
  disabledAt: disabledAt?.toISOString() ?? null,
});

/** Writes an act of the person at the terminal into the audit log. */
const record = (admin: Administration, action: string, { email, role }: StaffMember): Promise<void> =>
  admin.audit.record({ action, target: `staff:${email}`, details: { role } });

function linkOutput(
  { authUrl }: Installation,
  text: string,
  { member, token, endsAt }: StaffLink,
): CommandOutput {
  const url = `${authUrl}/staff/join?link=${token}`;
  const until = endsAt.toISOString();
  return {
    text: `${text} Send this link, which works once, until ${until}:\n\n  ${url}`,
    json: { staff: describe(member), url, endsAt: until },
  };
}

/** Commands that manage the people who may open the operators' pages. */
export const staffCommands: Commands<Installation> = {
  'staff invite': {
    about: 'let a person sign in to the pages for operators; prints a link that works once, for 24 hours',
    example: 'ana@example.com --role admin',
    flags: { role: roleFlag },
    positionals: ['email'],
    async run({ admin, subject }, args) {
      const [email = ''] = args.positionals;
      const role = staffRoles.find((known) => known === args.required('role')) ?? 'viewer';
      const link = await subject.staff.invite(email, role);
      await record(admin, 'staff.invite', link.member);
      return linkOutput(subject, `${email} is invited as ${role}.`, link);
    },
  },

  'staff list': {
    about: 'people who may open the pages for operators',
    example: '',
    async run({ subject: { staff } }) {
      const members = await staff.list();
      const rows = members.map(({ email, role, hasJoined, disabledAt }) => [
        ...[email, role],
        disabledAt !== null ? 'disabled' : hasJoined ? '' : 'invited',
      ]);
      return { text: listOf(['EMAIL', 'ROLE', ''], rows, null), json: { staff: members.map(describe) } };
    },
  },

  'staff role': {
    about: 'change what a person may do',
    example: 'ana@example.com --role support',
    flags: { role: roleFlag },
    positionals: ['email'],
    async run({ admin, subject: { staff } }, args) {
      const [email = ''] = args.positionals;
      const role = staffRoles.find((known) => known === args.required('role')) ?? 'viewer';
      const member = await staff.changeRole(email, role);
      await record(admin, 'staff.role', member);
      return { text: `${member.email} is ${role} from the next request on.`, json: describe(member) };
    },
  },

  'staff disable': {
    about: 'end the sessions of a person, who cannot sign in again',
    example: 'ana@example.com',
    positionals: ['email'],
    question: ({ positionals: [email] }) => `Disable ${email}? Their sessions end at once.`,
    async run({ admin, subject: { staff } }, { positionals: [email = ''] }) {
      const member = await staff.disable(email);
      await record(admin, 'staff.disable', member);
      return { text: `Disabled ${member.email}.`, json: describe(member) };
    },
  },

  'staff reset': {
    about:
      'remove the passkeys, password and codes of a person, and print a new link; enables a disabled one',
    example: 'ana@example.com',
    positionals: ['email'],
    question: ({ positionals: [email] }) =>
      `Remove every sign-in of ${email}? Their sessions end at once, and only the new link lets them in.`,
    async run({ admin, subject }, { positionals: [email = ''] }) {
      const link = await subject.staff.reset(email);
      await record(admin, 'staff.reset', link.member);
      return linkOutput(subject, `${link.member.email} has no sign-in any more.`, link);
    },
  },
};
