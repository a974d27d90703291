import { type Administration, PartnerNameError, type WebhookDelivery } from '@ostiary/core/admin';
import type { Owner } from '@ostiary/core/storage';
import {
  type CommandArguments,
  type CommandOutput,
  type Commands,
  pageFlags,
  pageOf,
  present,
  value,
} from './command.ts';
import { emptyOrList, listOf } from './lists.ts';

/** States by which deliveries are filtered. The filter `pending` includes deliveries that are `failing`. */
export const deliveryStates = ['pending', 'failing', 'delivered', 'dropped', 'cancelled'] as const;

/** Returns the state of a delivery in words: a pending delivery without a failed attempt is called queued. */
export function stateOf(
  { state, failures }: Pick<WebhookDelivery, 'state' | 'failures'>,
  maxAttempts: number,
): string {
  if (state === 'failing') return `failing (${failures} of ${Math.max(failures, maxAttempts)})`;
  return state === 'pending' ? 'queued' : state;
}

/** Flag that selects live or test data. */
export const modeFlag = {
  mode: value('data of live or of test keys', { oneOf: ['live', 'test'], default: 'live' }),
} as const;

/** Returns the partner in the first argument and the mode. @throws PartnerNameError for an unknown partner */
export async function ownerOf({ partners }: Administration, args: CommandArguments): Promise<Owner> {
  const [partner = ''] = args.positionals;
  if ((await partners.get(partner)) === null) throw new PartnerNameError('partner_not_found', partner);
  return { partner, mode: args.oneOf('mode', ['live', 'test']) ?? 'live' };
}

function deliveriesOutput(
  { webhooks: { maxAttempts } }: Administration,
  deliveries: readonly WebhookDelivery[],
  next: string | null,
): CommandOutput {
  const rows = deliveries.map((delivery) => {
    const last = delivery.attempts.at(-1);
    return [
      ...[
        delivery.id,
        delivery.eventId,
        delivery.eventType,
        delivery.endpointId,
        stateOf(delivery, maxAttempts),
      ],
      ...[String(delivery.attempts.length), String(last?.httpStatus ?? last?.error ?? '')],
      delivery.nextAttemptAt ?? '',
    ];
  });
  const heads = ['DELIVERY', 'EVENT', 'TYPE', 'ENDPOINT', 'STATUS', 'TRIES', 'LAST', 'NEXT'];
  return { text: listOf(heads, rows, next), json: { deliveries, next } };
}

/** Commands for webhook endpoints and deliveries of partners. */
export const webhookCommands: Commands = {
  'endpoints list': {
    about: 'the webhook endpoints of a partner',
    example: 'kafe',
    flags: modeFlag,
    positionals: ['partner'],
    async run({ admin }, args) {
      const owner = await ownerOf(admin, args);
      const endpoints = await admin.webhooks.list(owner);
      const rows = endpoints.map(({ id, url, events, enabled }) => [
        ...[id, url, events.join(' ')],
        enabled ? '' : 'disabled',
      ]);
      const text = await emptyOrList({
        ...{ owner, what: 'endpoints', isFiltered: false },
        text: rows.length === 0 ? null : listOf(['ENDPOINT', 'URL', 'EVENTS', ''], rows),
        countIn: async (other) => (await admin.webhooks.list(other)).length,
      });
      return { text, json: { endpoints } };
    },
  },

  'endpoints disable': {
    about: 'deliver nothing more to an endpoint, and cancel what waits',
    example: 'kafe we_5b1f0c9e7d3a4826',
    flags: modeFlag,
    positionals: ['partner', 'endpoint id'],
    question: ({ positionals: [, id] }) => `Disable ${id}? What is still to be delivered there is cancelled.`,
    async run({ admin }, args) {
      const endpoint = await admin.webhooks.disable(await ownerOf(admin, args), args.positionals[1] ?? '');
      return { text: `Disabled ${endpoint.id}.`, json: { endpoint } };
    },
  },

  'endpoints enable': {
    about: 'deliver to a disabled endpoint again',
    example: 'kafe we_5b1f0c9e7d3a4826',
    flags: modeFlag,
    positionals: ['partner', 'endpoint id'],
    async run({ admin }, args) {
      const endpoint = await admin.webhooks.enable(await ownerOf(admin, args), args.positionals[1] ?? '');
      return { text: `Enabled ${endpoint.id}.`, json: { endpoint } };
    },
  },

  'endpoints remove': {
    about: 'remove an endpoint, and cancel what waits',
    example: 'kafe we_5b1f0c9e7d3a4826',
    flags: modeFlag,
    positionals: ['partner', 'endpoint id'],
    question: ({ positionals: [, id] }) => `Remove ${id}? The partner must register it again.`,
    async run({ admin }, args) {
      const id = args.positionals[1] ?? '';
      await admin.webhooks.remove(await ownerOf(admin, args), id);
      return { text: `Removed ${id}.`, json: { removed: id } };
    },
  },

  'endpoints recover': {
    about: 'deliver again what was dropped at an endpoint',
    example: 'kafe we_5b1f0c9e7d3a4826 --since 2030-01-31T00:00:00Z',
    flags: {
      ...modeFlag,
      since: value('dropped since then, such as 2030-01-31T00:00:00Z', { required: true, is: 'time' }),
    },
    positionals: ['partner', 'endpoint id'],
    async run({ admin }, args) {
      const since = args.time('since') ?? new Date(0);
      const queued = await admin.webhooks.recover(await ownerOf(admin, args), args.positionals[1] ?? '', {
        since,
      });
      return { text: `${queued} deliveries are due again.`, json: { queued } };
    },
  },

  'deliveries list': {
    about: 'deliveries to a partner, newest first',
    example: 'kafe --status dropped',
    flags: {
      ...modeFlag,
      ...pageFlags,
      endpoint: value('only to this endpoint'),
      event: value('only of this event'),
      status: value('only in this state', { oneOf: deliveryStates }),
    },
    positionals: ['partner'],
    async run({ admin }, args) {
      const owner = await ownerOf(admin, args);
      const filters = present({
        endpointId: args.text('endpoint'),
        eventId: args.text('event'),
        status: args.oneOf('status', deliveryStates),
      });
      const page = pageOf(args);
      const { deliveries, next } = await admin.webhooks.deliveries(owner, { ...page, ...filters });
      const output = deliveriesOutput(admin, deliveries, next);
      const text = await emptyOrList({
        ...{ owner, what: 'deliveries', isFiltered: Object.keys({ ...page, ...filters }).length > 1 },
        text: deliveries.length === 0 ? null : output.text,
        countIn: async (other) => (await admin.webhooks.deliveries(other)).deliveries.length,
      });
      return { ...output, text };
    },
  },

  'deliveries redeliver': {
    about: 'deliver an event again',
    example: 'kafe evt_5b1f0c9e7d3a4826',
    flags: { ...modeFlag, endpoint: value('only to this endpoint (those that match now)') },
    positionals: ['partner', 'event id'],
    async run({ admin }, args) {
      const [, eventId = ''] = args.positionals;
      const only = present({ endpointId: args.text('endpoint') });
      const deliveries = await admin.webhooks.redeliver(await ownerOf(admin, args), eventId, only);
      return deliveriesOutput(admin, deliveries, null);
    },
  },
};
