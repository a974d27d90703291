import { type ConsoleAnswer, deliveryState, PartnerError, type PartnerEvent } from '@ostiary/core/console';
import { fill, type Html, html, nameOf } from '@ostiary/core/pages';
import { deliveriesPerPage, placeOf, queryOf } from './api.ts';
import { againForm, deliveryList } from './delivery.ts';
import { answerFramed, csrfField } from './frame.ts';
import { moment, statesSaid } from './parts.ts';
import { apiSnippets, snippet } from './snippets.ts';
import { seeOther, type Visit } from './visit.ts';
import type { Notice } from './words.ts';

/** Shows the partner API calls behind the actions of an event's page as code. */
function calls({ backend, mode, voice }: Visit, { id, type, data }: Omit<PartnerEvent, 'sequence'>): Html {
  const words = voice.words.snippets;
  const trigger = { operation: 'createSandboxEvent', id: null, body: { type, data } };
  const redeliver = { operation: 'redeliverEvent', id, body: {} };
  return html`<section class="panel" aria-labelledby="calls"><h2 id="calls">${words.title}</h2>
${apiSnippets(backend, voice, { id: 'call-redeliver', title: words.redeliver, call: redeliver })}
${mode === 'test' ? apiSnippets(backend, voice, { id: 'call-trigger', title: words.trigger, call: trigger }) : null}</section>`;
}

/**
 * Makes the panel that delivers an event again to all endpoints that subscribe to it; returns `null` for
 * visitors who may change nothing.
 */
function redeliverPanel(visit: Visit): Html | null {
  const { id, mayManage, urlOf, voice } = visit;
  const { events: words } = voice.words;
  if (!mayManage) return null;
  return html`<section class="panel" aria-labelledby="redeliver"><h2 id="redeliver">${words.redeliverAll}</h2>
<p class="small muted">${words.redeliverHint}</p>
<form id="${againForm}" method="post" action="${urlOf('redeliver', { id })}">${csrfField(visit)}<button>${words.redeliverAll}</button></form></section>`;
}

/** Shows the page of an event: its body, and each delivery with its attempts. */
export async function event(visit: Visit): Promise<ConsoleAnswer> {
  const { api, id, mayManage, request, urlOf, voice } = visit;
  const { language, words } = voice;
  const { sequence, ...body } = await api('getEvent', { path: { id } });
  const asked = request.query.get('endpoint');
  const endpointId = asked !== null && /^we_[0-9a-f]{32}$/.test(asked) ? asked : null;
  const query = { ...queryOf({ endpointId }), ...placeOf(request.query), limit: String(deliveriesPerPage) };
  const page = await api('listEventDeliveries', { path: { id }, query });
  const endpoints = new Map((await api('listWebhooks')).data.map((endpoint) => [endpoint.id, endpoint]));
  const list = deliveryList(page, visit, {
    empty: words.deliveries.emptyEvent,
    contextOf: ({ id: detail, endpointId }) => {
      const endpoint = endpoints.get(endpointId);
      return {
        href: endpoint === undefined ? null : urlOf('endpoint', { id: endpointId }),
        title: endpoint?.url ?? words.endpoints.removed,
        detail,
        canRepeat: endpoint?.enabled === true,
      };
    },
    pageUrl: (place) => urlOf('event', { id, endpoint: endpointId, ...place }),
  });
  return answerFramed(visit, {
    title: body.type,
    layout: 'main-first',
    said: statesSaid(words.deliveries.title, page.data.map(deliveryState), words),
    body: html`<section class="panel" aria-labelledby="deliveries"><h2 id="deliveries">${words.deliveries.title}</h2>
${endpointId === null ? null : html`<p class="small">${fill(language, words.deliveries.onlyTo, { endpoint: nameOf(endpoints.get(endpointId)?.url ?? words.endpoints.removed) })} <a href="${urlOf('event', { id })}">${words.deliveries.all}</a></p>`}
<div id="delivery-list" data-live>${list}</div></section>
<div class="column">
${redeliverPanel(visit)}
<section class="panel" aria-labelledby="body"><h2 id="body">${words.events.body}</h2>
<p class="small muted">${fill(language, words.events.sequence, { number: sequence })} · ${moment(body.createdAt, language)}<br><code>${id}</code></p>
${snippet(voice, words.events.json, JSON.stringify(body, null, 2))}
<p class="small muted">${words.events.bodyHint}</p></section>
${mayManage ? calls(visit, body) : null}
</div>`,
  });
}

/**
 * Delivers an event again: to the endpoint that the form names or, if the form names none, to all endpoints
 * that subscribe to the event.
 */
export async function redeliver(
  { api, id, urlOf }: Visit,
  form: ReadonlyMap<string, string>,
): Promise<ConsoleAnswer> {
  const done = (notice: Notice) => seeOther(urlOf('event', { id, notice }));
  // Throws if the event is missing, so that a later `not_found` means a missing endpoint.
  await api('getEvent', { path: { id } });
  try {
    const body = JSON.stringify({ endpointId: form.get('endpoint') });
    const { data: queued } = await api('redeliverEvent', { path: { id }, body });
    return done(queued.length > 0 ? 'redelivered' : 'no_match');
  } catch (error) {
    if (!(error instanceof PartnerError)) throw error;
    if (error.code === 'not_found') return done('gone');
    if (error.code === 'invalid_request') return done('disabled');
    throw error;
  }
}
