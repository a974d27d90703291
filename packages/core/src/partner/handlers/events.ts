import { PartnerError } from '../../errors.ts';
import type { Core } from '../../options/context.ts';
import type { Webhooks } from '../../webhooks/create-webhooks.ts';
import { eventView } from '../../webhooks/views.ts';
import { type PartnerRoute, route } from '../request.ts';
import {
  eventList,
  eventPath,
  eventsQuery,
  redeliverBody,
  redeliveries,
  sandboxEventBody,
  sentEvent,
} from '../webhook-schemas.ts';

const defaultPageSize = 25;

/** Routes that list a partner's events, redeliver them, and trigger sandbox events. */
export function eventRoutes(core: Core, { redeliver, trigger, catalogue }: Webhooks): PartnerRoute[] {
  const { events } = core.storage;
  const common = { scope: 'webhooks', limit: 'other' } as const;

  return [
    route({
      ...common,
      method: 'GET',
      path: '/v1/partner/events',
      tag: 'Events',
      operation: 'listEvents',
      sdk: { call: 'events.list()', isList: true },
      summary: 'Lists events in their sequence, after a given number.',
      query: eventsQuery,
      success: { status: 200, schema: eventList },
      async handle({ query, partner, mode }) {
        const { after = 0, limit = defaultPageSize } = query;
        const page = await events.list({ partner, mode, after, limit: limit + 1 });
        const { oldestSequence, newestSequence } = page;
        // After a restore of an older database, a consumer that continued after this number would miss the
        // new events that reuse the numbers.
        if (after > newestSequence) {
          const message = `is beyond the newest event: newestSequence is ${newestSequence}`;
          throw new PartnerError('invalid_request', { details: [{ path: 'after', message }] });
        }
        const shown = page.events.slice(0, limit);
        return {
          status: 200,
          body: {
            data: shown.map(eventView),
            hasMore: page.events.length > limit,
            nextAfter: shown.at(-1)?.sequence ?? after,
            oldestSequence,
            newestSequence,
          },
        };
      },
    }),

    route({
      ...common,
      method: 'POST',
      path: '/v1/partner/events/:id/redeliver',
      tag: 'Events',
      operation: 'redeliverEvent',
      portal: 'manage',
      sdk: { call: 'events.redeliver(id, body)' },
      summary: 'Delivers an event again: to one endpoint, or to those that match its type now.',
      pathSchema: eventPath,
      body: redeliverBody,
      bodyIsOptional: true,
      idempotent: true,
      success: { status: 200, schema: redeliveries },
      handle: async ({ path, body, ...request }) =>
        await redeliver({ ...request, eventId: path.id, endpointId: body.endpointId ?? null }),
    }),

    route({
      ...common,
      method: 'POST',
      path: '/v1/partner/sandbox/events',
      tag: 'Sandbox',
      operation: 'createSandboxEvent',
      sdk: { call: 'sandbox.triggerEvent(body)' },
      summary: 'Triggers an event of any type, with example data or with data of your own.',
      body: sandboxEventBody(catalogue.types),
      idempotent: true,
      success: { status: 201, schema: sentEvent },
      testOnly: true,
      handle: async ({ body, ...request }) => await trigger({ ...request, type: body.type, data: body.data }),
    }),
  ];
}
