import {
  type ConsoleAnswer,
  type Html,
  html,
  icons,
  nameOf,
  type WebhookEndpoint,
} from '@ostiary/core/console';
import { type ListedEvent, queryOf } from './api.ts';
import { answerFramed, csrfField } from './frame.ts';
import {
  choice,
  emptyList,
  filterForm,
  moment,
  pageLinks,
  stateBadge,
  stateBadges,
  statesSaid,
} from './parts.ts';
import type { Visit } from './visit.ts';
import type { Words } from './words/en/index.ts';

const bell = html`<svg class="icon" viewBox="0 0 20 20" aria-hidden="true"><path d="M5.5 13.5V9a4.5 4.5 0 0 1 9 0v4.5l1.5 1H4ZM8.5 17h3"/></svg>`;

/** The types that an endpoint takes, in words. */
export function typesOf(
  { events }: { readonly events: readonly string[] },
  { endpoints: words }: Words,
): string {
  return events.includes('*') ? words.allTypes : events.join(', ');
}

function endpointList(endpoints: readonly WebhookEndpoint[], { urlOf, voice }: Visit): Html {
  const words = voice.words.endpoints;
  if (endpoints.length === 0) return emptyList(words.emptyTitle, words.empty, icons.plug);
  const row = (endpoint: WebhookEndpoint): Html => {
    const { id, url, enabled } = endpoint;
    const badge = enabled ? stateBadge('enabled', words.enabled) : stateBadge('disabled', words.disabled);
    return html`<li id="${id}"><p class="what"><a href="${urlOf('endpoint', { id })}">${nameOf(url)}</a> <span>${typesOf(endpoint, voice.words)}</span></p>${badge}</li>`;
  };
  return html`<ul class="rows">${endpoints.map(row)}</ul>`;
}

function eventRow(event: ListedEvent, { urlOf, voice: { language, words } }: Visit): Html {
  const { id, type, createdAt, deliveries, hasMoreDeliveries } = event;
  const andOlder = html`<span class="small muted">${words.deliveries.andOlder}</span>`;
  return html`<li id="${id}"><p class="what"><a href="${urlOf('event', { id })}">${nameOf(type)} <span class="hidden">${id}</span></a> <span>${moment(createdAt, language)}</span></p>${stateBadges(deliveries, words)}${hasMoreDeliveries ? andOlder : null}</li>`;
}

function triggerForm(visit: Visit): Html {
  const { desk, urlOf, voice } = visit;
  const words = voice.words.trigger;
  const [first = ''] = desk.events.types;
  const types = desk.events.types.map((type) => [type, type] as const);
  return html`<section class="panel" aria-labelledby="trigger"><h2 id="trigger">${words.title}</h2>
<p class="small muted">${words.intro}</p>
<form class="form" method="post" action="${urlOf('trigger')}">${csrfField(visit)}
<div class="field"><label for="type">${words.type}</label>${choice({ id: 'type', name: 'type', options: types, chosen: first })}</div>
<div class="row"><button class="primary" name="step" value="send">${words.send}</button><button name="step" value="edit">${words.edit}</button></div>
</form></section>`;
}

/** The parameter of an address, where it can be one; anything else is the beginning of the list. */
function listOf({ request: { query }, desk }: Visit): {
  readonly before: string | null;
  readonly type: string | null;
} {
  const [before, type] = [query.get('before'), query.get('type')];
  return {
    before: before !== null && /^[1-9][0-9]{0,14}$/.test(before) ? before : null,
    type: type !== null && desk.events.types.includes(type) ? type : null,
  };
}

/** The first page of the console: endpoints, a test event, and what was sent. */
export async function home(visit: Visit): Promise<ConsoleAnswer> {
  const { api, desk, urlOf, voice } = visit;
  const { words } = voice;
  const { before, type } = listOf(visit);
  const { data: endpoints } = await api('listWebhooks');
  const { data: events, hasMore } = await api('latestEvents', { query: queryOf({ before, type }) });
  const [newest] = events;
  const last = events.at(-1);
  const empty =
    type === null
      ? emptyList(words.events.emptyTitle, words.events.empty, bell)
      : html`<p class="muted">${words.nothingFits}</p>`;
  const filter = filterForm(voice, {
    action: urlOf('home'),
    name: 'type',
    all: words.events.all,
    options: desk.events.types.map((type) => [type, type]),
    chosen: type,
  });
  return answerFramed(visit, {
    title: words.title,
    layout: 'aside-first',
    isFirst: true,
    said: newest === undefined ? words.events.emptyTitle : statesSaid(newest.type, newest.deliveries, words),
    body: html`<div class="column">
<section class="panel" aria-labelledby="endpoints"><div class="head"><h2 id="endpoints">${words.endpoints.title}</h2><a href="${urlOf('endpoints')}">${words.endpoints.add}</a></div>
<div id="endpoint-list" data-live>${endpointList(endpoints, visit)}</div></section>
${triggerForm(visit)}
</div>
<section class="panel" aria-labelledby="events"><div class="head"><h2 id="events">${words.events.title}</h2>${filter}</div>
<div id="event-list" data-live>${events.length === 0 ? empty : html`<ul class="rows">${events.map((event) => eventRow(event, visit))}</ul>`}
${pageLinks([
  [before === null ? null : urlOf('home', { type }), words.events.newest],
  [
    hasMore && last !== undefined ? urlOf('home', { type, before: String(last.sequence) }) : null,
    words.events.older,
  ],
])}</div></section>`,
  });
}
