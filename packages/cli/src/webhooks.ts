import type { WebhookDelivery } from '@ostiary/core/admin';
import type { Owner } from '@ostiary/core/storage';
import {
  type CommandArguments,
  type CommandOutput,
  type Commands,
  listOf,
  pageFlags,
  pageOf,
  present,
  value,
} from './command.ts';

const mode = { mode: value('live (default) or test') } as const;

function ownerOf(args: CommandArguments): Owner {
  const [partner = ''] = args.positionals;
  return { partner, mode: args.oneOf('mode', ['live', 'test']) ?? 'live' };
}

function deliveriesOutput(deliveries: readonly WebhookDelivery[], next: string | null): CommandOutput {
  const rows = deliveries.map((delivery) => {
    const last = delivery.attempts.at(-1);
    return [
      ...[delivery.id, delivery.eventId, delivery.eventType, delivery.endpointId, delivery.status],
      ...[String(delivery.attempts.length), String(last?.httpStatus ?? last?.error ?? '')],
      delivery.nextAttemptAt ?? '',
    ];
  });
  const heads = ['DELIVERY', 'EVENT', 'TYPE', 'ENDPOINT', 'STATUS', 'TRIES', 'LAST', 'NEXT'];
  return { text: listOf(heads, rows, next), json: { deliveries, next } };
}

/** Webhook endpoints and deliveries of partners. */
export const webhookCommands: Commands = {
  'endpoints list': {
    about: 'the webhook endpoints of a partner',
    flags: mode,
    positionals: ['partner'],
    async run({ admin }, args) {
      const endpoints = await admin.webhooks.list(ownerOf(args));
      const rows = endpoints.map(({ id, url, events, enabled }) => [
        ...[id, url, events.join(' ')],
        enabled ? '' : 'disabled',
      ]);
      return { text: listOf(['ENDPOINT', 'URL', 'EVENTS', ''], rows), json: { endpoints } };
    },
  },

  'endpoints disable': {
    about: 'deliver nothing more to an endpoint, and cancel what waits',
    flags: mode,
    positionals: ['partner', 'endpoint id'],
    question: ({ positionals: [, id] }) => `Disable ${id}? What is still to be delivered there is cancelled.`,
    async run({ admin }, args) {
      const endpoint = await admin.webhooks.disable(ownerOf(args), args.positionals[1] ?? '');
      return { text: `Disabled ${endpoint.id}.`, json: { endpoint } };
    },
  },

  'endpoints enable': {
    about: 'deliver to a disabled endpoint again',
    flags: mode,
    positionals: ['partner', 'endpoint id'],
    async run({ admin }, args) {
      const endpoint = await admin.webhooks.enable(ownerOf(args), args.positionals[1] ?? '');
      return { text: `Enabled ${endpoint.id}.`, json: { endpoint } };
    },
  },

  'endpoints remove': {
    about: 'remove an endpoint, and cancel what waits',
    flags: mode,
    positionals: ['partner', 'endpoint id'],
    question: ({ positionals: [, id] }) => `Remove ${id}? The partner has to register it again.`,
    async run({ admin }, args) {
      const id = args.positionals[1] ?? '';
      await admin.webhooks.remove(ownerOf(args), id);
      return { text: `Removed ${id}.`, json: { removed: id } };
    },
  },

  'endpoints recover': {
    about: 'deliver again what was dropped at an endpoint',
    flags: { ...mode, since: value('dropped since then, such as 2030-01-31T00:00:00Z') },
    positionals: ['partner', 'endpoint id'],
    async run({ admin }, args) {
      args.required('since');
      const since = args.time('since') ?? new Date(0);
      const queued = await admin.webhooks.recover(ownerOf(args), args.positionals[1] ?? '', { since });
      return { text: `${queued} deliveries are due again.`, json: { queued } };
    },
  },

  'deliveries list': {
    about: 'deliveries to a partner, newest first',
    flags: {
      ...mode,
      ...pageFlags,
      endpoint: value('only to this endpoint'),
      event: value('only of this event'),
      status: value('pending, delivered, dropped or cancelled'),
    },
    positionals: ['partner'],
    async run({ admin }, args) {
      const { deliveries, next } = await admin.webhooks.deliveries(ownerOf(args), {
        ...pageOf(args),
        ...present({
          endpointId: args.text('endpoint'),
          eventId: args.text('event'),
          status: args.oneOf('status', ['pending', 'delivered', 'dropped', 'cancelled']),
        }),
      });
      return deliveriesOutput(deliveries, next);
    },
  },

  'deliveries redeliver': {
    about: 'deliver an event again',
    flags: { ...mode, endpoint: value('only to this endpoint (those that match now)') },
    positionals: ['partner', 'event id'],
    async run({ admin }, args) {
      const [, eventId = ''] = args.positionals;
      const only = present({ endpointId: args.text('endpoint') });
      const deliveries = await admin.webhooks.redeliver(ownerOf(args), eventId, only);
      return deliveriesOutput(deliveries, null);
    },
  },
};
