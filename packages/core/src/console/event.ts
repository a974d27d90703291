import type { Context } from 'koa';
import type { Core } from '../context.ts';
import { OAuthError, PartnerError } from '../errors.ts';
import type { Handler } from '../http/route.ts';
import type { DeliveryView } from '../pages/console/delivery.ts';
import { againForm, eventPage } from '../pages/console/event.ts';
import { consoleWords } from '../pages/console/text.ts';
import type { Notice } from '../pages/console/words.ts';
import type { EventRecord } from '../ports/events.ts';
import type { Owner } from '../ports/owner.ts';
import type { Webhooks } from '../webhooks/create.ts';
import { answerPage, contextOf, languageOf, seeOther } from './answer.ts';
import { byId, deliveryView, listDeliveries } from './deliveries.ts';
import type { Guard } from './guard.ts';
import { consoleUrl } from './paths.ts';

async function findEvent(core: Core, owner: Owner, ctx: Context): Promise<EventRecord> {
  const { id } = ctx.params as { readonly id: string };
  const event = /^evt_[0-9a-f]{32}$/.test(id) ? await core.storage.events.find(owner, id) : null;
  if (event === null) throw new OAuthError('not_found');
  return event;
}

/** Shows an event, and each of its deliveries with every attempt. */
export function eventHandler(core: Core, { endpoints }: Webhooks, guard: Guard): Handler {
  return guard.page(async (ctx, visit) => {
    const { owner } = visit;
    const event = await findEvent(core, owner, ctx);
    const { id, type, sequence, createdAt, body } = event;
    const { deliveries, after } = await listDeliveries(core, ctx, {
      ...owner,
      eventId: id,
      endpointId: null,
    });
    const known = byId(await endpoints.list(owner));
    const words = consoleWords[languageOf(ctx)];
    const redeliverAction = consoleUrl(core, 'redeliver', { id });
    const url = consoleUrl(core, 'event', { id });

    const shown = deliveries.map((delivery): DeliveryView => {
      const endpoint = known.get(delivery.endpointId);
      return deliveryView(core, delivery, {
        about: {
          href: endpoint === undefined ? null : consoleUrl(core, 'endpoint', { id: endpoint.id }),
          title: endpoint?.url ?? words.endpoints.removed,
          detail: delivery.id,
        },
        again:
          endpoint?.enabled === true && delivery.status !== 'pending'
            ? { form: againForm, action: redeliverAction, endpoint: endpoint.id }
            : null,
      });
    });
    const page = eventPage({
      ...contextOf(core, ctx, visit, url),
      id,
      type,
      sequence,
      createdAt: new Date(createdAt),
      body,
      deliveries: shown,
      olderUrl: after === null ? null : consoleUrl(core, 'event', { id, after }),
      redeliverAction,
    });
    answerPage(ctx, page);
  });
}

/** Delivers an event again: to the endpoint that the form names, or to all that match. */
export function redeliverHandler(core: Core, { redeliver }: Webhooks, guard: Guard): Handler {
  return guard.action(async (ctx, { owner, now }, form) => {
    const { id } = await findEvent(core, owner, ctx);
    const named = form.get('endpoint') ?? '';
    const done = (notice: Notice) => seeOther(ctx, consoleUrl(core, 'event', { id, notice }));
    try {
      const request = { ...owner, now, idempotency: null, eventId: id };
      const { body } = await redeliver({ ...request, endpointId: named === '' ? null : named });
      const { data } = JSON.parse(body) as { readonly data: readonly unknown[] };
      done(data.length > 0 ? 'redelivered' : 'no_match');
    } catch (error) {
      if (!(error instanceof PartnerError)) throw error;
      // The event is there, so it is the endpoint that is not.
      if (error.code === 'not_found') return done('gone');
      if (error.code === 'invalid_request') return done('disabled');
      throw error;
    }
  });
}
