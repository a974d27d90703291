import { type Html, html, nameOf } from '@ostiary/core/console';
import { type ListedEvent, queryOf } from './api.ts';
import { emptyList, filterForm, moment, pageLinks, stateBadges, statesSaid } from './parts.ts';
import type { Visit } from './visit.ts';

const bell = html`<svg class="icon" viewBox="0 0 20 20" aria-hidden="true"><path d="M5.5 13.5V9a4.5 4.5 0 0 1 9 0v4.5l1.5 1H4ZM8.5 17h3"/></svg>`;

function eventRow(event: ListedEvent, { urlOf, voice: { language, words } }: Visit): Html {
  const { id, type, createdAt, deliveries, hasMoreDeliveries } = event;
  const andOlder = html`<span class="small muted">${words.deliveries.andOlder}</span>`;
  return html`<li id="${id}"><p class="what"><a href="${urlOf('event', { id })}">${nameOf(type)} <span class="hidden">${id}</span></a> <span>${moment(createdAt, language)}</span></p>${stateBadges(deliveries, words)}${hasMoreDeliveries ? andOlder : null}</li>`;
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

/** The events, the newest first, with what is said of the newest one. */
export async function eventsPanel(visit: Visit): Promise<{ readonly panel: Html; readonly said: string }> {
  const { api, desk, urlOf, voice } = visit;
  const { words } = voice;
  const { before, type } = listOf(visit);
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
  return {
    said: newest === undefined ? words.events.emptyTitle : statesSaid(newest.type, newest.deliveries, words),
    panel: html`<section class="panel" aria-labelledby="events"><div class="head"><h2 id="events">${words.events.title}</h2>${filter}</div>
<div id="event-list" data-live>${events.length === 0 ? empty : html`<ul class="rows">${events.map((event) => eventRow(event, visit))}</ul>`}
${pageLinks([
  [before === null ? null : urlOf('home', { type }), words.events.newest],
  [
    hasMore && last !== undefined ? urlOf('home', { type, before: String(last.sequence) }) : null,
    words.events.older,
  ],
])}</div></section>`,
  };
}
