import { deliveryStates, type WebhookEndpoint } from '@ostiary/core/console';
import { fillText, type Html, html, visible } from '@ostiary/core/pages';
import { startOfDay } from './calendar.ts';
import { formOf, type Message } from './forms.ts';
import { choiceField, filterFold, stateOptions } from './parts.ts';
import type { Visit } from './visit.ts';

/** States by which events can be filtered; `none` selects events without deliveries. */
export const eventStates = [...deliveryStates, 'none'] as const;

/** Filter of events in the URL; a part without a filter is `null`. */
interface EventChoice {
  readonly type: string | null;
  readonly state: (typeof eventStates)[number] | null;
  readonly endpoint: string | null;
  /** Latest time of the events, as the visitor typed it. */
  readonly until: string | null;
}

/**
 * Converts the UTC time of a `datetime-local` field into the latest time that the API's filter includes: the end of
 * the minute or second, so that the events within it are shown. Returns `null` if the text is no time.
 */
export function endOf(typed: string): string | null {
  const parts = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)?(?:\.\d+)?$/.exec(typed);
  if (parts === null) return null;
  const [, day = '', minute, seconds = ':59'] = parts;
  const time = new Date(`${day}T${minute}${seconds}.999Z`);
  return Number.isNaN(time.getTime()) || startOfDay(day) === null ? null : time.toISOString();
}

/** Reads the filter of events from the URL. Unknown values are ignored. */
export function choiceOf({ request: { query }, backend }: Visit): EventChoice {
  const [type, endpoint] = [query.get('type'), query.get('endpoint')];
  const until = query.get('until')?.trim().slice(0, 40) ?? '';
  return {
    type: type !== null && backend.events.types.includes(type) ? type : null,
    state: eventStates.find((state) => state === query.get('state')) ?? null,
    endpoint: endpoint !== null && /^we_[0-9a-f]{32}$/.test(endpoint) ? endpoint : null,
    until: until === '' ? null : until,
  };
}

/**
 * Makes the text fields of the filter of events with their error messages. `id` is the typed event id if no
 * such event exists, or ''.
 */
export function searchFields({ voice }: Visit, { until }: EventChoice, id: string) {
  const { events } = voice.words;
  const problems = new Map<string, readonly Message[]>();
  if (until !== null && endOf(until) === null) {
    const message = fillText(voice.language, events.untilWrong, { example: '2026-01-31T12:00' });
    problems.set('until', [message]);
  }
  if (id !== '') problems.set('id', [events.notFound]);
  return formOf({ until: events.until, id: events.id }, problems, '');
}

type SearchFields = ReturnType<typeof searchFields>;

/**
 * Shows the form that filters the list of events. The filter is in the URL, so that it can be bookmarked and
 * shared.
 */
export function eventFilters(
  { backend, urlOf, voice }: Visit,
  { type, state, endpoint, until }: EventChoice,
  endpoints: readonly WebhookEndpoint[],
  fields: SearchFields,
): Html {
  const { words } = voice;
  const { events, deliveries } = words;
  const isChosen = type !== null || state !== null || endpoint !== null || until !== null;
  const isWrong = until !== null && endOf(until) === null;
  const known = endpoints.map(({ id, url }) => [id, visible(url)] as const);
  // Deliveries of a removed endpoint are kept, so it can still be a filter.
  const gone =
    endpoint === null || known.some(([id]) => id === endpoint)
      ? []
      : [[endpoint, words.endpoints.removed] as const];
  const select = (
    name: string,
    label: string,
    options: Parameters<typeof choiceField>[0]['options'],
    chosen: string | null,
  ) => choiceField({ id: `filter-${name}`, name, label, options, chosen: chosen ?? '' });
  const types = backend.events.types.map((name) => [name, name] as const);
  const named = [...stateOptions(words), ['none', deliveries.states.none] as const];
  // Text input for an invalid time: `datetime-local` would show it as empty.
  const time = html`<input type="${isWrong ? 'text' : 'datetime-local'}" value="${until ?? ''}"`;
  const form = html`<form class="filters" method="get" action="${urlOf('home')}">
${select('type', events.type, [['', events.all], ...types], type)}
${select('state', events.state, [['', deliveries.all], ...named], state)}
${select('endpoint', events.endpoint, [['', events.allEndpoints], ...known, ...gone], endpoint)}
${fields.field({ name: 'until', tag: time })}
<div class="row"><button class="compact">${words.filter}</button>${isChosen ? html`<a href="${urlOf('home')}">${events.clear}</a>` : null}</div></form>`;
  return filterFold(voice, { id: 'event-filters', isNarrowed: isChosen, form });
}

/**
 * Shows the form that opens an event by its id and keeps the list's filter. `typed` is the typed id if no
 * such event exists, or ''.
 */
export function eventSearch(
  { urlOf, voice: { words } }: Visit,
  chosen: EventChoice,
  typed: string,
  fields: SearchFields,
): Html {
  const { events } = words;
  const hidden = Object.entries(chosen).map(([name, value]) =>
    value === null ? null : html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const tag = html`<input value="${typed}" maxlength="100" required spellcheck="false" autocapitalize="none" placeholder="evt_"`;
  return html`<form class="filters" method="get" action="${urlOf('home')}">${hidden}
${fields.field({ name: 'id', tag })}
<div class="row"><button class="compact">${events.find}</button></div></form>`;
}
