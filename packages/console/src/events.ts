import { PartnerError, type WebhookEndpoint } from '@ostiary/core/console';
import { fillText, type Html, html, nameOf } from '@ostiary/core/pages';
import { type ListedEvent, queryOf } from './api.ts';
import { choiceOf, endOf, eventFilters, eventSearch, searchFields } from './event-filter.ts';
import { counted, emptyList, moment, pageLinks, stateBadges, statesSaid } from './parts.ts';
import type { Visit } from './visit.ts';

const bell = html`<svg class="icon" viewBox="0 0 20 20" aria-hidden="true"><path d="M5.5 13.5V9a4.5 4.5 0 0 1 9 0v4.5l1.5 1H4ZM8.5 17h3"/></svg>`;

function eventRow(event: ListedEvent, { urlOf, voice: { language, words } }: Visit): Html {
  const { id, type, createdAt, deliveries, hasMoreDeliveries } = event;
  const andOlder = html`<span class="small muted">${words.deliveries.andOlder}</span>`;
  return html`<li id="${id}"><p class="what"><a href="${urlOf('event', { id })}">${nameOf(type)} <span class="hidden">${id}</span></a> <span>${moment(createdAt, language)}</span></p>${stateBadges(deliveries, words)}${hasMoreDeliveries ? andOlder : null}</li>`;
}

/** Returns the event id that the visitor typed, without surrounding spaces. */
const typedId = ({ request }: Visit): string => request.query.get('id')?.trim().slice(0, 100) ?? '';

/** Returns the URL of the event whose id was typed; `null` if no id was typed or no such event exists. */
export async function eventAsked(visit: Visit): Promise<string | null> {
  const id = typedId(visit);
  if (id === '') return null;
  try {
    await visit.api('getEvent', { path: { id } });
    return visit.urlOf('event', { id });
  } catch (error) {
    if (error instanceof PartnerError && error.code === 'not_found') return null;
    throw error;
  }
}

/** Number of events on one page of the list. */
const perPage = 20;

type Range = { readonly oldest: number; readonly newest: number } | null;

/** Returns the URL of the page with newer events; `null` on the first page, and for a filtered list. */
function newerThan(
  first: ListedEvent | undefined,
  range: Range,
  before: string | null,
  { urlOf }: Visit,
): string | null {
  if (first === undefined || range === null || before === null || first.sequence >= range.newest) return null;
  // Sequence numbers have no gaps.
  const place = first.sequence + perPage + 1;
  return urlOf('home', { before: place > range.newest ? null : String(place) });
}

/** Returns the text that says which events of how many are shown. */
function rangeText(events: readonly ListedEvent[], range: Range, { voice }: Visit): Html | null {
  const [first] = events;
  if (first === undefined || range === null) return null;
  const from = range.newest - first.sequence + 1;
  const text = fillText(voice.language, voice.words.lists.range, {
    first: counted(from, voice.language),
    last: counted(from + events.length - 1, voice.language),
    count: counted(range.newest - range.oldest + 1, voice.language),
  });
  return html`<p class="small muted">${text}</p>`;
}

/** Shows the list of events, newest first. */
export async function eventsPanel(
  visit: Visit,
  endpoints: readonly WebhookEndpoint[],
): Promise<{
  readonly panel: Html;
  /** Description of the newest event on the page, which screen readers announce. */
  readonly said: string;
  /** True if the time that the visitor typed is invalid. */
  readonly isRefused: boolean;
}> {
  const { api, mode, request, urlOf, voice } = visit;
  const { words } = voice;
  const chosen = choiceOf(visit);
  const { type, state, endpoint, until } = chosen;
  const place = request.query.get('before');
  const before = place !== null && /^[1-9][0-9]{0,14}$/.test(place) ? place : null;
  const end = until === null ? null : endOf(until);
  const isRefused = until !== null && end === null;
  // An invalid time does not filter: its field shows the error.
  const query = queryOf({ before, type, status: state, endpointId: endpoint, until: end });
  const { data: events, hasMore, nextBefore, range } = await api('latestEvents', { query });
  const [newest] = events;
  const isNarrowed = type !== null || state !== null || endpoint !== null || end !== null;
  const kept = isRefused ? { ...chosen, until: null } : chosen;
  const empty = isNarrowed
    ? html`<p class="muted">${nextBefore === null ? words.nothingFits : words.events.nothingYet}</p>`
    : emptyList(words.events.emptyTitle, mode === 'live' ? words.events.emptyLive : words.events.empty, bell);
  const older = hasMore ? words.events.older : words.events.searchOlder;
  const typed = typedId(visit);
  const fields = searchFields(visit, chosen, typed);
  return {
    isRefused,
    said: newest === undefined ? words.events.emptyTitle : statesSaid(newest.type, newest.deliveries, words),
    panel: html`<section class="panel" aria-labelledby="events"><h2 id="events">${words.events.title}</h2>
${eventFilters(visit, chosen, endpoints, fields)}
${eventSearch(visit, kept, typed, fields)}
<div id="event-list" data-live>${rangeText(events, range, visit)}${events.length === 0 ? empty : html`<ul class="rows">${events.map((event) => eventRow(event, visit))}</ul>`}
${pageLinks([
  [before === null ? null : urlOf('home', { ...kept }), words.events.newest],
  [newerThan(newest, range, before, visit), words.lists.previous],
  [nextBefore === null ? null : urlOf('home', { ...kept, before: String(nextBefore) }), older],
])}</div></section>`,
  };
}
