import { type Account, AccountError } from '../users/accounts.ts';
import { type Command, type Output, runProgram, table, text, UsageError } from './command.ts';
import { readPassword } from './password.ts';

const usage = `Users of this installation.

  npm run user -- create --handle <handle> --name <name> --phone <+509…> [options]
  npm run user -- list [--after <handle>] [--limit <number>]
  npm run user -- set-password <handle>
  npm run user -- block <handle>       ends sessions, and the access of every app, at once
  npm run user -- unblock <handle>
  npm run user -- kyc <handle> [--status <status>] [--tier <0 to 3>]
                                       changes it and tells the partners that the user shares it with

Options of create
  --role <text>             default member
  --country <code>          ISO 3166-1, default HT
  --avatar-url <url>
  --kyc-status <status>     approved, pending (default) or rejected
  --kyc-tier <0 to 3>       default 0
  --htg-balance <1250.00>   default 0.00
  --usd-balance <20.00>     default 0.00
  --trust-score <0 to 100>  default 0
  --trust-tier <text>       default new

The password is asked for, or read from the first line of standard input. It is never an argument, because everybody
on the machine can see arguments. --json prints JSON.`;

const tiers = [0, 1, 2, 3] as const;

function describe(account: Account): Readonly<Record<string, unknown>> {
  const { createdAt, blockedAt, ...rest } = account;
  return { ...rest, createdAt: createdAt.toISOString(), blockedAt: blockedAt?.toISOString() ?? null };
}

function done(said: string, account: Account): Output {
  return { text: said, json: describe(account) };
}

const create: Command = {
  flags: {
    handle: text,
    name: text,
    phone: text,
    role: text,
    country: text,
    'avatar-url': text,
    'kyc-status': text,
    'kyc-tier': text,
    'htg-balance': text,
    'usd-balance': text,
    'trust-score': text,
    'trust-tier': text,
  },
  positionals: [],
  async run({ accounts }, args) {
    const [role, country, avatarUrl] = [args.text('role'), args.text('country'), args.text('avatar-url')];
    const [kycStatus, kycTier] = [
      args.oneOf('kyc-status', ['approved', 'pending', 'rejected']),
      args.integer('kyc-tier'),
    ];
    const [htgBalance, usdBalance] = [args.text('htg-balance'), args.text('usd-balance')];
    const [trustScore, trustTier] = [args.integer('trust-score'), args.text('trust-tier')];
    const known = {
      handle: args.required('handle'),
      name: args.required('name'),
      phone: args.required('phone'),
    };
    const account = await accounts.create({
      ...known,
      ...(role !== undefined && { role }),
      ...(country !== undefined && { country }),
      ...(avatarUrl !== undefined && { avatarUrl }),
      ...(kycStatus !== undefined && { kycStatus }),
      ...(kycTier !== undefined && { kycTier }),
      ...(htgBalance !== undefined && { htgBalance }),
      ...(usdBalance !== undefined && { usdBalance }),
      ...(trustScore !== undefined && { trustScore }),
      ...(trustTier !== undefined && { trustTier }),
      password: await readPassword(),
    });
    return done(`Created ${account.handle} (sub ${account.sub}, kid ${account.kid}).`, account);
  },
};

const list: Command = {
  flags: { after: text, limit: text },
  positionals: [],
  async run({ accounts }, args) {
    const after = args.text('after');
    const limit = Math.min(args.integer('limit') ?? 100, 1_000);
    const found = await accounts.list({ limit, ...(after !== undefined && { after }) });
    const rows = found.map(({ handle, name, kid, phone, kycStatus, kycTier, blockedAt }) => [
      handle,
      name,
      kid,
      phone,
      `${kycStatus} (${kycTier})`,
      blockedAt === null ? '' : 'blocked',
    ]);
    return {
      text: table([['HANDLE', 'NAME', 'USER ID', 'PHONE', 'KYC (TIER)', ''], ...rows]),
      json: {
        users: found.map(describe),
        next: found.length === limit ? (found.at(-1)?.handle ?? null) : null,
      },
    };
  },
};

const setPassword: Command = {
  flags: {},
  positionals: ['handle'],
  async run({ accounts }, { positionals: [handle = ''] }) {
    // Asked before the password: nobody wants to type one for a handle that is misspelt.
    if ((await accounts.get(handle)) === null)
      throw new AccountError(`there is no user with the handle ${handle}`);
    const account = await accounts.setPassword(handle, await readPassword());
    return done(`Changed the password of ${account.handle} and ended their sessions.`, account);
  },
};

const block: Command = {
  flags: {},
  positionals: ['handle'],
  async run({ accounts, ostiary }, { positionals: [handle = ''] }) {
    const account = await accounts.block(handle);
    await ostiary.users.end(account.sub);
    return done(`Blocked ${account.handle}: their sessions and the access of every app are over.`, account);
  },
};

const unblock: Command = {
  flags: {},
  positionals: ['handle'],
  async run({ accounts }, { positionals: [handle = ''] }) {
    const account = await accounts.unblock(handle);
    return done(`Unblocked ${account.handle}. Apps have to ask for access again.`, account);
  },
};

const kyc: Command = {
  flags: { status: text, tier: text },
  positionals: ['handle'],
  async run({ identityChecks }, args) {
    const [handle = ''] = args.positionals;
    const kycStatus = args.oneOf('status', ['approved', 'pending', 'rejected']);
    const tier = args.integer('tier');
    const kycTier = tiers.find((candidate) => candidate === tier);
    if (tier !== undefined && kycTier === undefined) throw new UsageError('--tier must be 0 to 3');
    if (kycStatus === undefined && kycTier === undefined)
      throw new UsageError('--status or --tier is missing');
    const { account, events } = await identityChecks.change(handle, {
      ...(kycStatus !== undefined && { kycStatus }),
      ...(kycTier !== undefined && { kycTier }),
    });
    const told = events.length === 0 ? 'no partner' : events.map(({ partner }) => partner).join(', ');
    return {
      text: `${account.handle} is ${account.kycStatus} (tier ${account.kycTier}). Told: ${told}.`,
      json: { user: describe(account), events },
    };
  },
};

process.umask(0o077);
process.exitCode = await runProgram(
  { create, list, 'set-password': setPassword, block, unblock, kyc },
  usage,
  process.argv.slice(2),
);
