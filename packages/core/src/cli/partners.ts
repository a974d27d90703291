import { type Commands, moreOf, pageFlags, pageOf, table, value } from './command.ts';

/** Partners. */
export const partnerCommands: Commands = {
  'partners create': {
    about: 'make a partner; the slug never changes',
    flags: { name: value('shown to people') },
    positionals: ['slug'],
    async run({ admin }, args) {
      const [slug = ''] = args.positionals;
      const partner = await admin.partners.create({ slug, name: args.required('name') });
      return { text: `Created ${partner.slug} (${partner.name}).`, json: { partner } };
    },
  },

  'partners list': {
    about: 'partners by slug',
    flags: pageFlags,
    async run({ admin }, args) {
      const { partners, next } = await admin.partners.list(pageOf(args));
      const rows = partners.map(({ slug, name, createdAt, disabledAt }) => [
        ...[slug, name, createdAt],
        disabledAt === null ? '' : `disabled since ${disabledAt}`,
      ]);
      return {
        text: `${table([['SLUG', 'NAME', 'CREATED', ''], ...rows])}${moreOf(next)}`,
        json: { partners, next },
      };
    },
  },

  'partners rename': {
    about: 'change the name of a partner',
    flags: { name: value('shown to people') },
    positionals: ['slug'],
    async run({ admin }, args) {
      const [slug = ''] = args.positionals;
      const partner = await admin.partners.rename(slug, args.required('name'));
      return { text: `${slug} is ${partner.name} now.`, json: { partner } };
    },
  },

  'partners disable': {
    about: 'refuse every key of a partner',
    positionals: ['slug'],
    question: ({ positionals: [slug] }) =>
      `Disable ${slug}? None of its keys works until it is enabled again.`,
    async run({ admin }, { positionals: [slug = ''] }) {
      const partner = await admin.partners.disable(slug);
      return { text: `Disabled ${slug}: none of its keys works.`, json: { partner } };
    },
  },

  'partners enable': {
    about: 'let the keys of a partner work again',
    positionals: ['slug'],
    async run({ admin }, { positionals: [slug = ''] }) {
      const partner = await admin.partners.enable(slug);
      return { text: `Enabled ${slug}: its keys work again.`, json: { partner } };
    },
  },
};
