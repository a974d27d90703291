import type { WebhookDelivery, WebhookEndpoint } from '@ostiary/core/admin';
import { type ConsoleAnswer, deliveryStates } from '@ostiary/core/console';
import { fillText, type Html, html, nameOf } from '@ostiary/core/pages';
import { failureLine } from '../delivery.ts';
import { typesOf } from '../home.ts';
import { orderField, timeOrders } from '../list-order.ts';
import { choiceField, deliveryBadge, enabledBadge, facts, moment, stateOptions } from '../parts.ts';
import { seeOther } from '../visit.ts';
import { actForm, asked, type Filled, fieldsOf, formPanel, wrongField } from './fields.ts';
import { framed } from './frame.ts';
import { historyPanel } from './history.ts';
import { sortedList } from './sorted-list.ts';
import {
  attempt,
  type Form,
  found,
  modeOf,
  type OperatorContext,
  parameter,
  timeOf,
  unknownAct,
} from './visit.ts';

/** Returns the status by which the list of deliveries is filtered; `null` for deliveries of every status. */
function statusOf(visit: OperatorContext) {
  const asked = parameter(visit, 'status');
  return deliveryStates.find((state) => state === asked) ?? null;
}

function deliveryRow(delivery: WebhookDelivery, url: string | null, visit: OperatorContext): Html {
  const { slug, urls, voice, words } = visit;
  const { id, eventId, eventType, endpointId, status, createdAt, nextAttemptAt, attempts } = delivery;
  const last = attempts.at(-1);
  const why =
    last === undefined || last.error === null ? null : html`<span>${failureLine(last, voice.words)}</span>`;
  const again =
    status === 'pending' || url === null
      ? null
      : actForm(visit, {
          action: urls.webhooks(slug, { mode: modeOf(visit) }),
          act: 'redeliver',
          label: words.webhooks.again,
          body: html`<input type="hidden" name="event" value="${eventId}"><input type="hidden" name="endpoint" value="${endpointId}">`,
        });
  return html`<li id="${id}"><p class="what"><strong>${nameOf(eventType)}</strong> <span><code>${nameOf(eventId)}</code> · ${moment(createdAt, voice.language)}</span>
<span>${nameOf(url ?? endpointId)}</span> <span>${fillText(voice.language, words.webhooks.attempts, { count: attempts.length })}</span> ${why}
${nextAttemptAt === null ? null : html`<span>${words.webhooks.due}: ${moment(nextAttemptAt, voice.language)}</span>`}</p>
<div class="states">${deliveryBadge(delivery, visit.backend, voice)}</div>${again}</li>`;
}

/** Shows the form that filters deliveries. The filter is part of the URL. */
function filters(visit: OperatorContext, endpoints: readonly WebhookEndpoint[]): Html {
  const { slug, urls, voice, words } = visit;
  const text = words.webhooks;
  const status = statusOf(visit) ?? 'every';
  const statuses = [...stateOptions(voice.words), ['every', text.every] as const];
  const endpointOptions = [
    ['', text.every] as const,
    ...endpoints.map(({ id, url }) => [id, nameOf(url)] as const),
  ];
  const chosen = parameter(visit, 'endpoint') ?? '';
  return html`<form class="form" method="get" action="${urls.webhooks(slug)}">
<input type="hidden" name="mode" value="${modeOf(visit)}">${orderField(visit.query)}
${choiceField({ label: text.status, name: 'status', options: statuses, chosen: status })}
${choiceField({ label: text.endpoints, name: 'endpoint', options: endpointOptions, chosen })}
<div class="row"><button class="compact">${words.audit.show}</button></div></form>`;
}

/** Says that the list has the deliveries of one event only, with a link to the deliveries of all events. */
function onlyOfEvent(visit: OperatorContext, eventId: string): Html {
  const { slug, urls, voice } = visit;
  const all = urls.webhooks(slug, { mode: modeOf(visit) });
  return html`<p class="small">${voice.words.search.kinds.event}: <code>${nameOf(eventId)}</code> · <a href="${all}">${voice.words.deliveries.all}</a></p>`;
}

/** Shows the endpoints of a partner and, filtered by status, endpoint or event, their deliveries. */
export async function webhooks(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { admin, slug, urls, words } = visit;
  const partner = found(await admin.partners.get(slug));
  const mode = modeOf(visit);
  const owner = { partner: slug, mode };
  const endpoints = await admin.webhooks.list(owner);
  const status = statusOf(visit);
  const endpointId = parameter(visit, 'endpoint');
  const eventId = parameter(visit, 'event');
  const filter = {
    ...(status !== null && { status }),
    ...(endpointId !== null && { endpointId }),
    ...(eventId !== null && { eventId }),
  };
  const urlOf = new Map(endpoints.filter(({ enabled }) => enabled).map(({ id, url }) => [id, url]));
  const kept = { mode, status: status ?? 'every', endpoint: endpointId, event: eventId };
  const text = words.webhooks;
  const list = await sortedList(visit, {
    read: ({ by: _, ...request }) => admin.webhooks.sortedDeliveries(owner, { ...request, ...filter }),
    count: await admin.webhooks.countDeliveries(owner, filter),
    rowOf: (delivery) => deliveryRow(delivery, urlOf.get(delivery.endpointId) ?? null, visit),
    urlOf: (query) => urls.webhooks(slug, { ...kept, ...query }),
    ...{ empty: text.noDeliveries, orders: timeOrders },
  });
  const rows = endpoints.map(
    (endpoint) =>
      html`<li><p class="what"><a href="${urls.endpoint(slug, endpoint.id, { mode })}">${nameOf(endpoint.url)}</a> <span>${typesOf(endpoint, visit.voice.words)}</span></p>${enabledBadge(endpoint.enabled, words)}</li>`,
  );
  return framed(visit, {
    title: text.deliveries,
    section: 'partners',
    crumbs: [[urls.partner(slug), partner.name]],
    hasModes: true,
    layout: 'aside-first',
    body: html`<div class="column"><section class="panel" aria-labelledby="endpoints"><h2 id="endpoints">${text.endpoints}</h2>${rows.length === 0 ? html`<p class="muted">${text.noEndpoints}</p>` : html`<ul class="rows">${rows}</ul>`}</section>
<section class="panel" aria-label="${words.mode}">${filters(visit, endpoints)}</section></div>
<section class="panel" aria-labelledby="deliveries"><h2 id="deliveries">${text.deliveries}</h2>${eventId === null ? null : onlyOfEvent(visit, eventId)}${list}</section>`,
  });
}

/** Handles the form that delivers an event again to one endpoint. */
export async function redeliver(visit: OperatorContext, form: Form): Promise<ConsoleAnswer> {
  const { admin, slug, urls } = visit;
  if (form.get('act') !== 'redeliver') return unknownAct();
  found(await admin.partners.get(slug));
  const mode = modeOf(visit);
  const endpointId = form.get('endpoint') ?? '';
  const result = await attempt(() =>
    admin.webhooks.redeliver({ partner: slug, mode }, form.get('event') ?? '', { endpointId }),
  );
  const notice = 'done' in result && result.done.length > 0 ? 'queued' : 'nothing';
  return seeOther(urls.webhooks(slug, { mode, status: 'every', notice }));
}

async function endpointOf({ admin, slug, id }: OperatorContext, mode: 'live' | 'test') {
  return found((await admin.webhooks.list({ partner: slug, mode })).find((one) => one.id === id));
}

async function showOne(visit: OperatorContext, filled: Filled | null): Promise<ConsoleAnswer> {
  const { slug, id, urls, voice, words } = visit;
  const mode = modeOf(visit);
  const { url, events, enabled, createdAt } = await endpointOf(visit, mode);
  const text = words.webhooks;
  const action = urls.endpoint(slug, id, { mode });
  const form = fieldsOf(visit, { since: text.since }, filled);
  return framed(visit, {
    title: url,
    section: 'partners',
    crumbs: [
      [urls.partner(slug), slug],
      [urls.webhooks(slug, { mode }), text.deliveries],
    ],
    refused: form.summary,
    body: html`<section class="panel" aria-label="${text.endpoints}">${facts([
      ['ID', html`<code>${id}</code>`],
      [voice.words.search.kinds.partner, html`<a href="${urls.webhooks(slug, { mode })}">${slug}</a>`],
      [words.state, enabledBadge(enabled, words)],
      [words.mode, words[mode]],
      [voice.words.endpoints.types, typesOf({ events }, voice.words)],
      [words.created, moment(createdAt, voice.language)],
    ])}
<p class="pages"><a href="${urls.webhooks(slug, { mode, endpoint: id })}">${text.deliveries}</a></p></section>
${formPanel(visit, {
  label: words.state,
  body: html`${
    enabled
      ? html`${asked(visit, {
          ...{ action, act: 'recover', label: text.recover, hint: text.recoverHint },
          ...{ isOpen: filled !== null, body: form.line('since', text.sinceHint) },
        })}
${asked(visit, { action, act: 'disable', label: text.disable, hint: text.disableHint })}`
      : asked(visit, { action, act: 'enable', label: text.enable, hint: text.enableHint })
  }
${asked(visit, { action, act: 'remove', label: text.remove, hint: text.removeHint, isFinal: true })}`,
})}
${await historyPanel(visit, { target: `endpoint:${id}` })}`,
  });
}

/** Shows the operators' page of an endpoint. */
export const operatorEndpoint = (visit: OperatorContext): Promise<ConsoleAnswer> => showOne(visit, null);

/**
 * Handles the forms on the operators' page of an endpoint, which enable, disable or remove the endpoint, or
 * redeliver its dropped events.
 */
export async function changeEndpointOf(visit: OperatorContext, form: Form): Promise<ConsoleAnswer> {
  const { admin, slug, id, urls, words } = visit;
  const mode = modeOf(visit);
  const owner = { partner: slug, mode };
  await endpointOf(visit, mode);
  const act = form.get('act');
  if (act === 'recover') {
    const since = timeOf(form, 'since');
    if (since === null || since === undefined)
      return showOne(visit, wrongField(form, 'since', words.badTime));
    const result = await attempt(() => admin.webhooks.recover(owner, id, { since }));
    if ('problems' in result) return showOne(visit, { form, ...result });
    return seeOther(urls.endpoint(slug, id, { mode, notice: result.done > 0 ? 'queued' : 'nothing' }));
  }
  if (act !== 'enable' && act !== 'disable' && act !== 'remove') return unknownAct();
  const result = await attempt<unknown>(() => admin.webhooks[act](owner, id));
  if ('problems' in result) return showOne(visit, { form, ...result });
  if (act === 'remove') return seeOther(urls.webhooks(slug, { mode, notice: 'removed' }));
  return seeOther(urls.endpoint(slug, id, { mode, notice: `${act}d` }));
}
