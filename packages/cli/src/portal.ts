import { PartnerNameError } from '@ostiary/core/admin';
import { type Commands, table, value } from './command.ts';
import { listOf } from './lists.ts';

/** Commands that give people of a partner access to the portal, the pages with the partner's live data. */
export const portalCommands: Commands = {
  'portal link': {
    about: 'make a link that opens the live portal of a partner once, within ten minutes',
    example: 'kafe --rights view',
    flags: {
      rights: value('what the person may do there', { required: true, oneOf: ['view', 'manage'] }),
    },
    positionals: ['partner'],
    async run({ admin }, args) {
      const [partner = ''] = args.positionals;
      const rights = args.oneOf('rights', ['view', 'manage']) ?? 'view';
      const link = await admin.portal.link({ partner, rights });
      const rows = [
        ['id', link.id],
        ['rights', link.rights],
        ['expires', link.expiresAt],
        ['link', link.url],
      ];
      const note = 'Give the link to one person now: it is not shown again, and the session lasts 8 hours.';
      return { text: table(rows), json: { link }, note };
    },
  },

  'portal list': {
    about: 'links to the live portal of a partner that were not used, and open sessions',
    example: 'kafe',
    positionals: ['partner'],
    async run({ admin }, { positionals: [slug = ''] }) {
      if ((await admin.partners.get(slug)) === null) throw new PartnerNameError('partner_not_found', slug);
      const sessions = await admin.portal.list(slug);
      const rows = sessions.map(({ id, rights, madeBy, openedAt, expiresAt }) => [
        ...[id, rights, madeBy, openedAt ?? 'not used', expiresAt],
      ]);
      return { text: listOf(['SESSION', 'RIGHTS', 'MADE BY', 'OPENED', 'ENDS'], rows), json: { sessions } };
    },
  },

  'portal end': {
    about: 'end a link or session of the live portal from the next request on, in every process',
    example: 'kafe ps_5b1f0c9e7d3a482655aa01be',
    positionals: ['partner', 'session id'],
    question: ({ positionals: [partner, id] }) => `End the portal session ${id} of ${partner}?`,
    async run({ admin }, { positionals: [partner = '', id = ''] }) {
      await admin.portal.end(partner, id);
      return { text: `Ended ${id}.`, json: { ended: id } };
    },
  },
};
