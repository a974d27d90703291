import type { PartnerTransfer } from '@ostiary/core/admin';
import { type Commands, NotFoundError, pageFlags, pageOf, present, table, value } from './command.ts';
import { emptyOrList, listOf } from './lists.ts';
import { modeFlag, ownerOf } from './webhooks.ts';

const statuses = ['pending', 'completed', 'failed'] as const;

const time = { is: 'time' } as const;

const rowOf = ({
  id,
  status,
  amount,
  currency,
  recipient,
  reference,
  createdAt,
}: PartnerTransfer): string[] => [
  ...[id, status, `${amount} ${currency}`, recipient.kid],
  ...[reference ?? '', createdAt],
];

/** Commands that read the payments of a partner. */
export const paymentCommands: Commands = {
  'payments list': {
    about: 'the transfers of a partner, newest first',
    example: 'kafe --status failed',
    flags: {
      ...modeFlag,
      ...pageFlags,
      status: value('only in this state', { oneOf: statuses }),
      reference: value("only with this reference, the partner's own"),
      from: value('made at this time or later, such as 2030-01-31T00:00:00Z', time),
      to: value('made before this time', time),
    },
    positionals: ['partner'],
    async run({ admin }, args) {
      const owner = await ownerOf(admin, args);
      const filters = present({
        status: args.oneOf('status', statuses),
        ...{ reference: args.text('reference'), from: args.time('from'), to: args.time('to') },
      });
      const page = pageOf(args);
      const { transfers, next } = await admin.transfers.list(owner, { ...page, ...filters });
      const heads = ['PAYMENT', 'STATUS', 'AMOUNT', 'RECIPIENT', 'REFERENCE', 'CREATED'];
      const text = await emptyOrList({
        ...{ owner, what: 'payments', isFiltered: Object.keys({ ...page, ...filters }).length > 1 },
        text: transfers.length === 0 ? null : listOf(heads, transfers.map(rowOf), next),
        countIn: async (other) => (await admin.transfers.list(other)).transfers.length,
      });
      return { text, json: { transfers, next } };
    },
  },

  'payments show': {
    about: 'a transfer, and the event about its outcome',
    example: 'kafe tr_5b1f0c9e7d3a4826',
    flags: modeFlag,
    positionals: ['partner', 'payment id'],
    async run({ admin }, args) {
      const owner = await ownerOf(admin, args);
      const [, id = ''] = args.positionals;
      const transfer = await admin.transfers.get(owner, id);
      if (transfer === null)
        throw new NotFoundError('payment_not_found', `there is no ${owner.mode} payment ${id}`);
      const event = await admin.transfers.event(owner, id);
      const { description, failure, metadata, completedAt } = transfer;
      const rows = [
        ...[
          ['status', transfer.status],
          ['amount', `${transfer.amount} ${transfer.currency}`],
          ['recipient', transfer.recipient.kid],
        ],
        ...(transfer.reference === null ? [] : [['reference', transfer.reference]]),
        ...(description === null ? [] : [['description', description]]),
        ...(failure === null ? [] : [['failure', `${failure.code}: ${failure.message}`]]),
        ...(metadata === null ? [] : [['metadata', JSON.stringify(metadata)]]),
        ['created', transfer.createdAt],
        ...(completedAt === null ? [] : [['completed', completedAt]]),
        ['event', event === null ? 'none yet' : `${event.id} (${event.type})`],
      ];
      return { text: table(rows), json: { transfer, event } };
    },
  },
};
