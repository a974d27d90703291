import {
  type CommandOutput,
  type Commands,
  CommandUsageError,
  listOf,
  present,
  readPassword,
  table,
  toggle,
  value,
} from '@ostiary/cli';
import type { Installation } from '../installation.ts';
import type { Account } from '../users/accounts.ts';

const tiers = [0, 1, 2, 3] as const;
const statuses = ['approved', 'pending', 'rejected'] as const;

function describe(account: Account): Readonly<Record<string, unknown>> {
  const { createdAt, blockedAt, ...rest } = account;
  return { ...rest, createdAt: createdAt.toISOString(), blockedAt: blockedAt?.toISOString() ?? null };
}

function done(text: string, account: Account): CommandOutput {
  return { text, json: describe(account) };
}

const targetOf = ({ sub }: Account): string => `user:${sub}`;

/** Commands that manage the users of this installation. */
export const userCommands: Commands<Installation> = {
  'users create': {
    about: 'make a user; the password is asked for, or read from standard input',
    example: '--handle anaika --name "Anaïka Pierre" --phone +50937001122',
    flags: {
      handle: value('handle for signing in', { required: true }),
      name: value('shown to apps and partners', { required: true }),
      phone: value('such as +50937001122', { required: true }),
      email: value('address for notices to the user (none)'),
      role: value('member, unless given'),
      country: value('ISO 3166-1 (HT)'),
      'avatar-url': value('https address of a picture'),
      'kyc-status': value('approved, pending (unless given) or rejected', { oneOf: statuses }),
      'kyc-tier': value('0 (unless given) to 3', { is: 'whole number' }),
      'htg-balance': value('such as 1250.00 (0.00)'),
      'usd-balance': value('such as 20.00 (0.00)'),
      'trust-score': value('0 (unless given) to 100', { is: 'whole number' }),
      'trust-tier': value('new, unless given'),
    },
    async run({ admin, subject: { accounts } }, args) {
      const balances = present({
        htgBalance: args.text('htg-balance'),
        usdBalance: args.text('usd-balance'),
      });
      const account = await accounts.create({
        handle: args.required('handle'),
        name: args.required('name'),
        phone: args.required('phone'),
        ...present({
          email: args.text('email'),
          role: args.text('role'),
          country: args.text('country'),
          avatarUrl: args.text('avatar-url'),
          kycStatus: args.oneOf('kyc-status', statuses),
          kycTier: args.integer('kyc-tier'),
          trustScore: args.integer('trust-score'),
          trustTier: args.text('trust-tier'),
        }),
        ...balances,
        password: await readPassword(),
      });
      const { handle, kycStatus, kycTier } = account;
      // The starting balance creates money, so the audit log records the amounts.
      const details = { handle, kycStatus, kycTier, ...balances };
      await admin.audit.record({ action: 'user.create', target: targetOf(account), details });
      return done(`Created ${account.handle} (sub ${account.sub}, kid ${account.kid}).`, account);
    },
  },

  'users list': {
    about: 'users by handle',
    example: '--limit 20',
    flags: {
      after: value('last handle of the previous page'),
      limit: value('rows at most', { is: 'whole number', default: '100' }),
    },
    async run({ subject: { accounts } }, args) {
      const after = args.text('after');
      const limit = Math.min(args.integer('limit') ?? 100, 1_000);
      const found = await accounts.list({ limit, ...(after !== undefined && { after }) });
      const rows = found.map(({ handle, name, kid, phone, kycStatus, kycTier, blockedAt }) => [
        ...[handle, name, kid, phone, `${kycStatus} (${kycTier})`],
        blockedAt === null ? '' : 'blocked',
      ]);
      const next = found.length === limit ? (found.at(-1)?.handle ?? null) : null;
      return {
        text: listOf(['HANDLE', 'NAME', 'USER ID', 'PHONE', 'KYC (TIER)', ''], rows, next),
        json: { users: found.map(describe), next },
      };
    },
  },

  'users show': {
    about: 'one user',
    example: 'anaika',
    positionals: ['handle'],
    async run({ subject: { accounts } }, { positionals: [handle = ''] }) {
      const account = await accounts.require(handle);
      const rows = [
        ['handle', account.handle],
        ['name', account.name],
        ['sub', account.sub],
        ['user ID', account.kid],
        ['phone', account.phone],
        ['e-mail', account.email ?? 'none'],
        ['KYC', `${account.kycStatus} (tier ${account.kycTier})`],
        ['created', account.createdAt.toISOString()],
        ['state', account.blockedAt === null ? 'active' : `blocked since ${account.blockedAt.toISOString()}`],
      ];
      return { text: table(rows), json: describe(account) };
    },
  },

  'users set-email': {
    about: 'change or remove the address to which notices for a user are sent',
    example: 'anaika --email anaika@example.com',
    positionals: ['handle'],
    flags: { email: value('the new address'), remove: toggle('remove the address') },
    async run({ admin, subject: { accounts } }, args) {
      const [handle = ''] = args.positionals;
      const email = args.text('email') ?? null;
      if ((email === null) !== args.has('remove'))
        throw new CommandUsageError('give either --email or --remove');
      const account = await accounts.setEmail(handle, email);
      await admin.audit.record({ action: 'user.set_email', target: targetOf(account) });
      const text =
        email === null
          ? `Notices for ${account.handle} are no longer sent.`
          : `Notices for ${account.handle} go to ${email}.`;
      return done(text, account);
    },
  },

  'users set-password': {
    about: 'change a password, end the sessions of the old one, and notify apps of that',
    example: 'anaika',
    positionals: ['handle'],
    async run({ admin, subject: { accounts, ostiary } }, { positionals: [handle = ''] }) {
      // Check the handle before the password prompt, so that no password is typed for a misspelt handle.
      await accounts.require(handle);
      const account = await accounts.setPassword(handle, await readPassword());
      await ostiary.users.signedOut(account.sub);
      await admin.audit.record({ action: 'user.set_password', target: targetOf(account) });
      return done(`Changed the password of ${account.handle} and ended their sessions.`, account);
    },
  },

  'users block': {
    about: 'end the sessions of a user, and the access of every app, at once',
    example: 'anaika',
    positionals: ['handle'],
    question: ({ positionals: [handle] }) =>
      `Block ${handle}? Their sessions and the access of every app end at once, and apps must ask again.`,
    async run({ admin, subject: { accounts } }, { positionals: [handle = ''] }) {
      const account = await accounts.block(handle);
      await admin.users.end(account.sub);
      await admin.audit.record({ action: 'user.block', target: targetOf(account) });
      return done(`Blocked ${account.handle}: their sessions and the access of every app are over.`, account);
    },
  },

  'users unblock': {
    about: 'let a blocked user sign in again',
    example: 'anaika',
    positionals: ['handle'],
    async run({ admin, subject: { accounts } }, { positionals: [handle = ''] }) {
      const account = await accounts.unblock(handle);
      await admin.audit.record({ action: 'user.unblock', target: targetOf(account) });
      return done(`Unblocked ${account.handle}. Apps must ask for access again.`, account);
    },
  },

  'users kyc': {
    about:
      'change the state of the identity check of a user, and notify the partners with whom the user shares it',
    example: 'anaika --status approved --tier 2',
    flags: {
      status: value('approved, pending or rejected', { oneOf: statuses }),
      tier: value('0 to 3', { is: 'whole number' }),
    },
    positionals: ['handle'],
    async run({ admin, subject: { identityChecks } }, args) {
      const [handle = ''] = args.positionals;
      const kycStatus = args.oneOf('status', statuses);
      const tier = args.integer('tier');
      const kycTier = tiers.find((candidate) => candidate === tier);
      if (tier !== undefined && kycTier === undefined) throw new CommandUsageError('--tier must be 0 to 3');
      if (kycStatus === undefined && kycTier === undefined)
        throw new CommandUsageError('--status or --tier is missing');
      const changes = present({ kycStatus, kycTier });
      const { account, events } = await identityChecks.change(handle, changes);
      await admin.audit.record({ action: 'user.kyc', target: targetOf(account), details: changes });
      const told = events.length === 0 ? 'no partner' : events.map(({ partner }) => partner).join(', ');
      return {
        text: `${account.handle} is ${account.kycStatus} (tier ${account.kycTier}). Notified: ${told}.`,
        json: { user: describe(account), events },
      };
    },
  },
};
