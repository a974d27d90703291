import { type Commands, pageFlags, pageOf, table, value } from './command.ts';
import { listOf } from './lists.ts';
import { obstacleLine } from './obstacles.ts';
import { modeFlag, ownerOf } from './webhooks.ts';

/** Commands that manage partners. */
export const partnerCommands: Commands = {
  'partners create': {
    about: 'make a partner; the slug never changes',
    example: 'kafe --name "Kafe Lakay"',
    flags: { name: value('shown to people', { required: true }) },
    positionals: ['slug'],
    async run({ admin }, args) {
      const [slug = ''] = args.positionals;
      const partner = await admin.partners.create({ slug, name: args.required('name') });
      return { text: `Created ${partner.slug} (${partner.name}).`, json: { partner } };
    },
  },

  'partners list': {
    about: 'partners by slug',
    example: '--limit 20',
    flags: pageFlags,
    async run({ admin }, args) {
      const { partners, next } = await admin.partners.list(pageOf(args));
      const rows = partners.map(({ slug, name, createdAt, disabledAt }) => [
        ...[slug, name, createdAt],
        disabledAt === null ? '' : `disabled since ${disabledAt}`,
      ]);
      return { text: listOf(['SLUG', 'NAME', 'CREATED', ''], rows, next), json: { partners, next } };
    },
  },

  'partners show': {
    about: 'a partner, and why its webhooks do not arrive',
    example: 'kafe --mode test',
    flags: modeFlag,
    positionals: ['slug'],
    async run({ admin }, args) {
      const owner = await ownerOf(admin, args);
      const partner = await admin.partners.get(owner.partner);
      const obstacles = await admin.webhooks.obstacles(owner);
      const state = partner?.disabledAt ? `disabled since ${partner.disabledAt}` : 'enabled';
      const lines = obstacles.length === 0 ? ['Nothing is known to be wrong.'] : obstacles.map(obstacleLine);
      return {
        text: `${owner.partner} (${partner?.name}), created ${partner?.createdAt}, ${state}\nWebhooks, ${owner.mode} data:\n${lines.map((line) => `  ${line}`).join('\n')}`,
        json: { partner, mode: owner.mode, obstacles },
      };
    },
  },

  'partners rename': {
    about: 'change the name of a partner',
    example: 'kafe --name "Kafe Lakay"',
    flags: { name: value('shown to people', { required: true }) },
    positionals: ['slug'],
    async run({ admin }, args) {
      const [slug = ''] = args.positionals;
      const partner = await admin.partners.rename(slug, args.required('name'));
      return { text: `${slug} is ${partner.name} now.`, json: { partner } };
    },
  },

  'partners disable': {
    about: 'end what a partner has: keys, OAuth clients with codes and tokens, pending deliveries',
    example: 'kafe',
    positionals: ['slug'],
    question: ({ positionals: [slug] }) =>
      `Disable ${slug}? Its keys and OAuth clients do not work until it is enabled again. Codes and tokens of the ` +
      'clients and pending deliveries end for good.',
    async run({ admin }, { positionals: [slug = ''] }) {
      const { ended, ...partner } = await admin.partners.disable(slug);
      const { keys, clients, codes, tokens, deliveries } = ended;
      const rows = [
        ['keys', keys, 'refused until the partner is enabled'],
        ['clients', clients, 'refused until the partner is enabled'],
        ['codes', codes, 'ended'],
        ['tokens', tokens, 'ended'],
        ['deliveries', deliveries, 'cancelled'],
      ] as const;
      return {
        text: `Disabled ${slug}:\n${table(rows.map(([what, count, end]) => [`  ${what}`, `${count}`, end]))}`,
        json: { partner, ended },
        note: 'Transfers that were accepted are executed, and consents of users stay.',
      };
    },
  },

  'partners enable': {
    about: 'let the keys and OAuth clients of a partner work again',
    example: 'kafe',
    positionals: ['slug'],
    async run({ admin }, { positionals: [slug = ''] }) {
      const { restored, ...partner } = await admin.partners.enable(slug);
      const { keys, clients } = restored;
      return {
        text: `Enabled ${slug}: keys that work again: ${keys}, clients: ${clients}. What was revoked stays revoked.`,
        json: { partner, restored },
      };
    },
  },
};
