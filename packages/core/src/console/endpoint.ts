import type { Context } from 'koa';
import type { Core } from '../context.ts';
import { OAuthError } from '../errors.ts';
import type { Handler } from '../http/route.ts';
import { endpointPage } from '../pages/console/endpoint.ts';
import { againForm } from '../pages/console/event.ts';
import type { Owner } from '../ports/owner.ts';
import type { WebhookEndpointRecord } from '../ports/webhooks.ts';
import type { Webhooks } from '../webhooks/create.ts';
import { answerPage, contextOf, seeOther } from './answer.ts';
import { deliveryView, listDeliveries } from './deliveries.ts';
import type { Guard } from './guard.ts';
import { consoleUrl } from './paths.ts';

function findEndpoint({ endpoints }: Webhooks, owner: Owner, ctx: Context): Promise<WebhookEndpointRecord> {
  const { id } = ctx.params as { readonly id: string };
  if (!/^we_[0-9a-f]{32}$/.test(id)) throw new OAuthError('not_found');
  return endpoints.find(owner, id);
}

/** Shows an endpoint, and each delivery to it with every attempt. */
export function endpointHandler(core: Core, webhooks: Webhooks, guard: Guard): Handler {
  return guard.page(async (ctx, visit) => {
    const { owner } = visit;
    const { id, url, enabled, events, createdAt } = await findEndpoint(webhooks, owner, ctx);
    const { deliveries, after } = await listDeliveries(core, ctx, {
      ...owner,
      endpointId: id,
      eventId: null,
    });
    const ownUrl = consoleUrl(core, 'endpoint', { id });
    const page = endpointPage({
      ...contextOf(core, ctx, visit, ownUrl),
      id,
      targetUrl: url,
      enabled,
      types: events,
      createdAt: new Date(createdAt),
      deliveries: deliveries.map((delivery) =>
        deliveryView(core, delivery, {
          about: {
            href: consoleUrl(core, 'event', { id: delivery.eventId }),
            title: delivery.eventType,
            detail: delivery.eventId,
          },
          again:
            enabled && delivery.status !== 'pending'
              ? {
                  form: againForm,
                  action: consoleUrl(core, 'redeliver', { id: delivery.eventId }),
                  endpoint: id,
                }
              : null,
        }),
      ),
      olderUrl: after === null ? null : consoleUrl(core, 'endpoint', { id, after }),
      action: ownUrl,
    });
    answerPage(ctx, page);
  });
}

/** Enables, disables or removes an endpoint. */
export function changeEndpointHandler(core: Core, webhooks: Webhooks, guard: Guard): Handler {
  const { endpoints } = webhooks;
  return guard.action(async (ctx, { owner, now }, form) => {
    const { id } = await findEndpoint(webhooks, owner, ctx);
    switch (form.get('action')) {
      case 'enable':
        await endpoints.change(owner, id, { enabled: true }, now);
        return seeOther(ctx, consoleUrl(core, 'endpoint', { id, notice: 'endpoint_enabled' }));
      case 'disable':
        await endpoints.change(owner, id, { enabled: false }, now);
        return seeOther(ctx, consoleUrl(core, 'endpoint', { id, notice: 'endpoint_disabled' }));
      case 'remove':
        await endpoints.remove(owner, id, now);
        return seeOther(ctx, consoleUrl(core, 'home', { notice: 'endpoint_removed' }));
      default:
        throw new OAuthError('invalid_request', 'The action has to be enable, disable or remove.');
    }
  });
}
