import {
  type ConsoleAnswer,
  type Html,
  html,
  PartnerError,
  type WebhookEndpoint,
} from '@ostiary/core/console';
import { deliveriesPerPage, deliveryStatuses, queryOf } from './api.ts';
import { againForm, deliveryList } from './delivery.ts';
import { answerFramed, csrfField } from './frame.ts';
import { typesOf } from './home.ts';
import { filterForm, moment, stateBadge, statesSaid } from './parts.ts';
import { seeOther, type Visit } from './visit.ts';
import type { Voice } from './words/words.ts';

const changeForm = 'change';

function settings(endpoint: WebhookEndpoint, { language, words }: Voice): Html {
  const { endpoints } = words;
  const { id, enabled, createdAt } = endpoint;
  const change = enabled
    ? html`<p class="small muted">${endpoints.disableHint}</p><button class="compact" form="${changeForm}" name="action" value="disable">${endpoints.disable}</button>`
    : html`<button class="compact primary" form="${changeForm}" name="action" value="enable">${endpoints.enable}</button>`;
  return html`<p>${enabled ? stateBadge('enabled', endpoints.enabled) : stateBadge('disabled', endpoints.disabled)}</p>
<p>${typesOf(endpoint, words)}</p>
<p class="small muted">${endpoints.since(moment(createdAt, language))}<br><code>${id}</code></p>
${change}`;
}

/** One endpoint: its settings, and its deliveries with their attempts. */
export async function endpoint(visit: Visit): Promise<ConsoleAnswer> {
  const { api, id, request, urlOf, voice } = visit;
  const { words } = voice;
  const shown = await api('getWebhook', { path: { id } });
  const status = deliveryStatuses.find((status) => status === request.query.get('status')) ?? null;
  const query = queryOf({ status, cursor: request.query.get('cursor'), limit: deliveriesPerPage });
  const page = await api('listDeliveries', { path: { id }, query });
  const list = deliveryList(page, visit, {
    empty: status === null ? words.deliveries.emptyEndpoint : words.nothingFits,
    contextOf: ({ eventId, eventType }) => ({
      href: urlOf('event', { id: eventId }),
      title: eventType,
      detail: eventId,
      canRepeat: shown.enabled,
    }),
    olderUrl: (cursor) => urlOf('endpoint', { id, status, cursor }),
  });
  const filter = filterForm(voice, {
    action: urlOf('endpoint', { id }),
    name: 'status',
    all: words.deliveries.all,
    options: deliveryStatuses.map((status) => [status, words.deliveries.states[status]]),
    chosen: status,
  });
  const deliveries = page.data.map(({ status }) => status);
  const state = shown.enabled ? words.endpoints.enabled : words.endpoints.disabled;
  return answerFramed(visit, {
    title: shown.url,
    layout: 'aside-first',
    said: `${state}. ${statesSaid(words.deliveries.title, deliveries, words)}`,
    body: html`<div class="column">
<section class="panel" aria-label="${words.endpoints.title}">
<div id="endpoint-settings" class="column" data-live>${settings(shown, voice)}</div>
<details id="removal"><summary>${words.endpoints.remove}</summary><p>${words.endpoints.removeHint}</p>
<div class="row"><button class="compact" form="${changeForm}" name="action" value="remove">${words.endpoints.removeNow}</button></div></details>
</section></div>
<form id="${changeForm}" method="post" action="${urlOf('endpoint', { id })}" hidden>${csrfField(visit)}</form>
<form id="${againForm}" method="post" action="${urlOf('home')}" hidden>${csrfField(visit)}</form>
<section class="panel" aria-labelledby="deliveries"><div class="head"><h2 id="deliveries">${words.deliveries.title}</h2>${filter}</div>
<div id="delivery-list" data-live>${list}</div></section>`,
  });
}

/** Enables, disables or removes an endpoint. */
export async function changeEndpoint(
  { api, id, urlOf }: Visit,
  form: ReadonlyMap<string, string>,
): Promise<ConsoleAnswer> {
  const path = { id };
  const action = form.get('action');
  switch (action) {
    case 'enable':
    case 'disable':
      await api('updateWebhook', { path, body: JSON.stringify({ enabled: action === 'enable' }) });
      return seeOther(urlOf('endpoint', { id, notice: `endpoint_${action}d` }));
    case 'remove':
      await api('deleteWebhook', { path });
      return seeOther(urlOf('home', { notice: 'endpoint_removed' }));
    default:
      throw new PartnerError('invalid_request', {
        description: 'The action has to be enable, disable or remove.',
      });
  }
}
