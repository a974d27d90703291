import type { Core } from '../../options/context.ts';
import type { Webhooks } from '../../webhooks/create-webhooks.ts';
import { deliveryView, endpointView } from '../../webhooks/views.ts';
import { newestFirst, type Page } from '../paging.ts';
import { type PartnerRoute, route } from '../request.ts';
import {
  deliveriesQuery,
  deliveryList,
  endpointBody,
  endpointChanges,
  endpointList,
  endpointPath,
  endpointRemoved,
  endpointSchema,
  recoverBody,
  recovered,
} from '../webhook-schemas.ts';

const common = { scope: 'webhooks', limit: 'other' } as const;

/** Routes that register, list, change and remove webhook endpoints. */
export function webhookRoutes({ endpoints, catalogue, standardHeaders }: Webhooks): PartnerRoute[] {
  const options = { types: catalogue.types, standardHeaders };
  return [
    route({
      ...common,
      method: 'POST',
      path: '/v1/partner/webhooks',
      tag: 'Webhooks',
      operation: 'createWebhook',
      portal: 'manage',
      sdk: { call: 'webhooks.create(body)' },
      summary: 'Registers a webhook endpoint.',
      body: endpointBody(options),
      success: { status: 201, schema: endpointSchema },
      idempotent: true,
      handle: async ({ body, ...request }) => await endpoints.create({ ...request, settings: body }),
    }),

    route({
      ...common,
      method: 'GET',
      path: '/v1/partner/webhooks',
      tag: 'Webhooks',
      operation: 'listWebhooks',
      portal: 'view',
      sdk: { call: 'webhooks.list()', isList: true },
      summary: 'Lists webhook endpoints, the oldest first.',
      success: { status: 200, schema: endpointList },
      async handle({ partner, mode }) {
        return { status: 200, body: { data: (await endpoints.list({ partner, mode })).map(endpointView) } };
      },
    }),

    route({
      ...common,
      method: 'GET',
      path: '/v1/partner/webhooks/:id',
      tag: 'Webhooks',
      operation: 'getWebhook',
      portal: 'view',
      sdk: { call: 'webhooks.retrieve(id)' },
      summary: 'Shows a webhook endpoint.',
      pathSchema: endpointPath,
      success: { status: 200, schema: endpointSchema },
      async handle({ path, partner, mode }) {
        return { status: 200, body: endpointView(await endpoints.find({ partner, mode }, path.id)) };
      },
    }),

    route({
      ...common,
      method: 'PATCH',
      path: '/v1/partner/webhooks/:id',
      tag: 'Webhooks',
      operation: 'updateWebhook',
      portal: 'manage',
      sdk: { call: 'webhooks.update(id, body)' },
      summary: 'Changes a webhook endpoint. Disabling it cancels its pending deliveries.',
      pathSchema: endpointPath,
      body: endpointChanges(options),
      success: { status: 200, schema: endpointSchema },
      async handle({ path, body, partner, mode, now, act }) {
        const endpoint = await endpoints.change({ partner, mode }, path.id, body, now, act);
        return { status: 200, body: endpointView(endpoint) };
      },
    }),

    route({
      ...common,
      method: 'DELETE',
      path: '/v1/partner/webhooks/:id',
      tag: 'Webhooks',
      operation: 'deleteWebhook',
      portal: 'manage',
      sdk: { call: 'webhooks.delete(id)' },
      summary: 'Removes a webhook endpoint and cancels its pending deliveries.',
      pathSchema: endpointPath,
      success: { status: 200, schema: endpointRemoved },
      async handle({ path, partner, mode, now, act }) {
        await endpoints.remove({ partner, mode }, path.id, now, act);
        return { status: 200, body: { id: path.id, deleted: true } };
      },
    }),
  ];
}

/** Routes that list deliveries to a webhook endpoint, and redeliver those that were dropped. */
export function deliveryRoutes(core: Core, { endpoints, recover }: Webhooks): PartnerRoute[] {
  const { deliveries } = core.storage;

  return [
    route({
      ...common,
      method: 'GET',
      path: '/v1/partner/webhooks/:id/deliveries',
      tag: 'Webhooks',
      operation: 'listDeliveries',
      portal: 'view',
      sdk: { call: 'webhooks.deliveries(id)', isList: true },
      summary: 'Lists deliveries to a webhook endpoint with their attempts, newest first.',
      pathSchema: endpointPath,
      query: deliveriesQuery,
      success: { status: 200, schema: deliveryList },
      async handle({ path, query, partner, mode }) {
        const owner = { partner, mode };
        await endpoints.find(owner, path.id);
        const filters = { ...owner, endpointId: path.id, eventId: null, status: query.status ?? null };
        const read = (page: Page) => deliveries.list({ ...filters, ...page });
        return { status: 200, body: await newestFirst({ ...query, read, view: deliveryView }) };
      },
    }),

    route({
      ...common,
      method: 'POST',
      path: '/v1/partner/webhooks/:id/recover',
      tag: 'Webhooks',
      operation: 'recoverWebhook',
      portal: 'manage',
      sdk: { call: 'webhooks.recover(id, body)' },
      summary: 'Sends deliveries again that were dropped since a time, up to 1,000 per call.',
      pathSchema: endpointPath,
      body: recoverBody,
      success: { status: 200, schema: recovered },
      idempotent: true,
      handle: async ({ path, body, ...request }) =>
        await recover({ ...request, endpointId: path.id, since: Date.parse(body.since) }),
    }),
  ];
}
