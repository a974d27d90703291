import { formatMoney } from '../ledger/money.ts';
import { ledgerCurrencies } from '../ledger/postings.ts';
import { type Command, runProgram, table, text, UsageError } from './command.ts';
import { issue, listKeys, revoke, roll } from './partner-keys.ts';

const usage = `Partners of this installation, their API keys and their funds.

  npm run partner -- create <slug> --name <name>
  npm run partner -- list [--after <slug>] [--limit <number>]
  npm run partner -- disable <slug>             refuses every key of the partner
  npm run partner -- enable <slug>
  npm run partner -- fund <slug> --amount <1250.00> --currency <HTG or USD>
  npm run partner -- key-issue <slug> --mode <live or test> --scope <scope> [options]
  npm run partner -- key-list <slug>
  npm run partner -- key-revoke <key id>
  npm run partner -- key-roll <key id> [--overlap <seconds>]

Options of key-issue (--scope and --allow may be repeated)
  --scope <scope>      identity:verify, payments:write, payments:read, users:read, webhooks, reconciliation:read; or all
  --name <text>        to tell keys apart
  --allow <range>      an address or CIDR range from which the key may be used; everywhere unless given
  --require-signature  refuse requests with a body that are not signed
  --expires <time>     ISO 8601, such as 2030-01-31T00:00:00Z

A key and its signing secret are shown once and cannot be shown again; key-roll makes a successor with a secret of its
own and keeps the old key valid for the overlap (86400 seconds). A running server notices a change within five seconds.
--json prints JSON.`;

const create: Command = {
  flags: { name: text },
  positionals: ['slug'],
  async run({ ostiary }, args) {
    const [slug = ''] = args.positionals;
    const partner = await ostiary.admin.partners.create({ slug, name: args.required('name') });
    return { text: `Created ${partner.slug} (${partner.name}).`, json: { partner } };
  },
};

const list: Command = {
  flags: { after: text, limit: text },
  positionals: [],
  async run({ ostiary, ledger }, args) {
    const [after, limit] = [args.text('after'), args.integer('limit')];
    const { partners, next } = await ostiary.admin.partners.list({
      ...(after !== undefined && { after }),
      ...(limit !== undefined && { limit }),
    });
    const found = [];
    for (const partner of partners) {
      const { HTG, USD } = await ledger.funds(partner.slug);
      found.push({ ...partner, funds: { HTG: formatMoney(HTG), USD: formatMoney(USD) } });
    }
    const rows = found.map(({ slug, name, funds, disabledAt }) => [
      ...[slug, name, funds.HTG, funds.USD],
      disabledAt === null ? '' : 'disabled',
    ]);
    const more = next === null ? '' : `\n\nMore: --after ${next}`;
    return {
      text: `${table([['SLUG', 'NAME', 'HTG', 'USD', ''], ...rows])}${more}`,
      json: { partners: found, next },
    };
  },
};

const disable: Command = {
  flags: {},
  positionals: ['slug'],
  async run({ ostiary }, { positionals: [slug = ''] }) {
    const partner = await ostiary.admin.partners.disable(slug);
    return { text: `Disabled ${slug}: none of its keys works.`, json: { partner } };
  },
};

const enable: Command = {
  flags: {},
  positionals: ['slug'],
  async run({ ostiary }, { positionals: [slug = ''] }) {
    const partner = await ostiary.admin.partners.enable(slug);
    return { text: `Enabled ${slug}: its keys work again.`, json: { partner } };
  },
};

const fund: Command = {
  flags: { amount: text, currency: text },
  positionals: ['slug'],
  async run({ ostiary, ledger }, args) {
    const [slug = ''] = args.positionals;
    const amount = args.required('amount');
    args.required('currency');
    const currency = args.oneOf('currency', ledgerCurrencies);
    if (currency === undefined) throw new UsageError('--currency is missing');
    if ((await ostiary.admin.partners.get(slug)) === null)
      throw new UsageError(`there is no partner ${slug}`);
    const { HTG, USD } = await ledger.fund(slug, amount, currency);
    const funds = { HTG: formatMoney(HTG), USD: formatMoney(USD) };
    return { text: `${slug} has ${funds[currency]} ${currency}.`, json: { partner: slug, funds } };
  },
};

process.umask(0o077);
process.exitCode = await runProgram(
  {
    ...{ create, list, disable, enable, fund },
    ...{ 'key-issue': issue, 'key-list': listKeys, 'key-revoke': revoke, 'key-roll': roll },
  },
  usage,
  process.argv.slice(2),
);
