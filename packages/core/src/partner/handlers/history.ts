import { z } from 'zod';
import type { Core } from '../../context.ts';
import { PartnerError } from '../../errors.ts';
import { deliveryView, eventView } from '../../webhooks/views.ts';
import { newestFirst, type Page } from '../paging.ts';
import { operation, type PartnerOperation } from '../request.ts';
import { cursor, pageSize } from '../schemas.ts';
import { eventPath } from '../webhook-schemas.ts';

const defaultPageSize = 20;

/** Deliveries of each event that the list looks at. */
const deliveriesPerEvent = 20;

/**
 * What a console reads of events beside the partner API, which lists them in their sequence for programs: the newest first,
 * for people.
 */
export function historyOperations({ storage }: Core): PartnerOperation[] {
  const { events, deliveries } = storage;
  const ofEvent = { endpointId: null, status: null } as const;

  return [
    operation({
      operation: 'latestEvents',
      scope: 'webhooks',
      query: z.strictObject({
        before: z
          .string()
          .regex(/^[1-9][0-9]{0,14}$/)
          .transform(Number)
          .optional(),
        type: z.string().max(64).optional(),
        limit: pageSize,
      }),
      async handle({ query, partner, mode }) {
        const owner = { partner, mode };
        const { before = null, type = null, limit = defaultPageSize } = query;
        const found = await events.latest({ ...owner, before, type, limit: limit + 1 });
        const data = [];
        // One after the other: what is read of each is much more than what is kept of it.
        for (const event of found.slice(0, limit)) {
          const filter = { ...owner, ...ofEvent, eventId: event.id, after: null };
          const latest = await deliveries.list({ ...filter, limit: deliveriesPerEvent + 1 });
          data.push({
            ...eventView(event),
            deliveries: latest.slice(0, deliveriesPerEvent).map(({ status }) => status),
            hasMoreDeliveries: latest.length > deliveriesPerEvent,
          });
        }
        return { status: 200, body: { data, hasMore: found.length > limit } };
      },
    }),

    operation({
      operation: 'getEvent',
      scope: 'webhooks',
      pathSchema: eventPath,
      async handle({ path, partner, mode }) {
        const event = await events.find({ partner, mode }, path.id);
        if (event === null) throw new PartnerError('not_found', { description: 'There is no such event.' });
        return { status: 200, body: eventView(event) };
      },
    }),

    operation({
      operation: 'listEventDeliveries',
      scope: 'webhooks',
      pathSchema: eventPath,
      query: z.strictObject({ limit: pageSize, cursor }),
      async handle({ path, query, partner, mode }) {
        const filters = { partner, mode, ...ofEvent, eventId: path.id };
        const read = (page: Page) => deliveries.list({ ...filters, ...page });
        return { status: 200, body: await newestFirst({ ...query, read, view: deliveryView }) };
      },
    }),
  ];
}
