import {
  type ConsoleAnswer,
  deliveryState,
  deliveryStates,
  PartnerError,
  type WebhookEndpoint,
} from '@ostiary/core/console';
import { fill, type Html, html } from '@ostiary/core/pages';
import { deliveriesPerPage, placeOf, queryOf } from './api.ts';
import { againForm, deliveryList } from './delivery.ts';
import { answerFramed, csrfField, noticeOf } from './frame.ts';
import { historyPanel } from './history.ts';
import { typesOf } from './home.ts';
import { isInbox } from './inbox.ts';
import { enabledBadge, filterForm, moment, stateOptions, statesSaid } from './parts.ts';
import { noRecovery, type Recovery, recover, recovered, recoverForm } from './recover.ts';
import { seeOther, type Visit } from './visit.ts';

const changeForm = 'change';

function settings(endpoint: WebhookEndpoint, { mayManage, voice: { language, words } }: Visit): Html {
  const { endpoints } = words;
  const { id, enabled, createdAt } = endpoint;
  const change = enabled
    ? html`<p class="small muted">${endpoints.disableHint}</p><button class="compact" form="${changeForm}" name="action" value="disable">${endpoints.disable}</button>`
    : html`<button class="compact primary" form="${changeForm}" name="action" value="enable">${endpoints.enable}</button>`;
  return html`<p>${enabledBadge(enabled, endpoints)}</p>
<p>${typesOf(endpoint, words)}</p>
<p class="small muted">${fill(language, endpoints.since, { time: moment(createdAt, language) })}<br><code>${id}</code></p>
${mayManage ? change : null}`;
}

/** Shows the links and forms that change an endpoint. Updates of the open page leave them untouched. */
function changes({ mayManage, mode, urlOf, voice }: Visit, endpoint: WebhookEndpoint): Html | null {
  const { id } = endpoint;
  if (!mayManage) return null;
  const { endpoints, inbox, receiver } = voice.words;
  const requests = isInbox(endpoint)
    ? html`<p><a href="${urlOf('inbox', { id })}">${inbox.last}</a></p>`
    : null;
  const receive =
    isInbox(endpoint) || mode === 'live'
      ? null
      : html`<p><a href="${urlOf('receiver', { id })}">${receiver.open}</a></p>`;
  return html`${requests}${receive}<p><a href="${urlOf('editEndpoint', { id })}">${endpoints.edit}</a></p>
<p><a href="${urlOf('secret', { id })}">${endpoints.rotate}</a></p>
<details id="removal"><summary>${endpoints.remove}</summary><p>${endpoints.removeHint}</p>
<div class="row"><button class="compact" form="${changeForm}" name="action" value="remove">${endpoints.removeNow}</button></div></details>`;
}

function recoverPanel({ mayManage, voice }: Visit, { enabled }: WebhookEndpoint, form: Html): Html | null {
  if (!mayManage) return null;
  const { recovery } = voice.words;
  return html`<section class="panel" aria-labelledby="recovery"><h2 id="recovery">${recovery.title}</h2>
<p class="small muted">${recovery.hint}</p>${enabled ? form : html`<p>${recovery.disabled}</p>`}</section>`;
}

/** Makes the forms that the buttons of the endpoint page send. */
const hiddenForms = (visit: Visit): Html =>
  html`<form id="${changeForm}" method="post" action="${visit.urlOf('endpoint', { id: visit.id })}" hidden>${csrfField(visit)}</form>
<form id="${againForm}" method="post" action="${visit.urlOf('home')}" hidden>${csrfField(visit)}</form>`;

/** Shows the page of an endpoint: its settings, and its deliveries with their attempts. */
export async function endpoint(visit: Visit): Promise<ConsoleAnswer> {
  return await show(visit, noRecovery);
}

async function show(visit: Visit, recovery: Recovery): Promise<ConsoleAnswer> {
  const { api, id, request, urlOf, voice } = visit;
  const { words } = voice;
  const shown = await api('getWebhook', { path: { id } });
  const history = await api('getWebhookHistory', { path: { id } });
  const status = deliveryStates.find((state) => state === request.query.get('status')) ?? null;
  const query = { ...queryOf({ status }), ...placeOf(request.query), limit: String(deliveriesPerPage) };
  const page = await api('listEndpointDeliveries', { path: { id }, query });
  const list = deliveryList(page, visit, {
    empty: status === null ? words.deliveries.emptyEndpoint : words.nothingFits,
    contextOf: ({ eventId, eventType }) => ({
      href: urlOf('event', { id: eventId }),
      title: eventType,
      detail: eventId,
      canRepeat: shown.enabled,
    }),
    pageUrl: (place) => urlOf('endpoint', { id, status, ...place }),
  });
  const filter = filterForm(voice, {
    ...{ action: urlOf('endpoint', { id }), query: request.query },
    name: 'status',
    all: words.deliveries.all,
    options: stateOptions(words),
    chosen: status,
  });
  const deliveries = page.data.map(deliveryState);
  const form = recoverForm(visit, recovery);
  const done = recovered(visit);
  const state = shown.enabled ? words.endpoints.enabled : words.endpoints.disabled;
  return answerFramed(visit, {
    title: shown.url,
    layout: 'aside-first',
    status: form.status,
    said:
      deliveries.length === 0 ? state : `${state}. ${statesSaid(words.deliveries.title, deliveries, words)}`,
    body: html`${form.summary}${done === null ? null : noticeOf(done)}
<div class="column">
<section class="panel" aria-label="${words.endpoints.title}">
<div id="endpoint-settings" class="column" data-live>${settings(shown, visit)}</div>
${changes(visit, shown)}</section>
${recoverPanel(visit, shown, form.body)}
</div>
${visit.mayManage ? hiddenForms(visit) : null}
<div class="column">${historyPanel(history, voice)}
<section class="panel" aria-labelledby="deliveries"><div class="head"><h2 id="deliveries">${words.deliveries.title}</h2>${filter}</div>
<div id="delivery-list" data-live>${list}</div></section></div>`,
  });
}

/**
 * Handles the forms on the page of an endpoint, which enable, disable or remove the endpoint, or redeliver
 * its dropped events.
 */
export async function changeEndpoint(
  visit: Visit,
  form: ReadonlyMap<string, string>,
): Promise<ConsoleAnswer> {
  const { api, id, urlOf } = visit;
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
    case 'recover': {
      const result = await recover(visit, form);
      if (typeof result !== 'number') return await show(visit, result);
      return seeOther(urlOf('endpoint', { id, queued: String(result) }));
    }
    default:
      throw new PartnerError('invalid_request', {
        description: 'The action must be enable, disable, recover or remove.',
      });
  }
}
