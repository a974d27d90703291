import { type Html, html, visible, type WebhookEndpoint } from '@ostiary/core/console';
import { deliveryStatuses } from './api.ts';
import { choice } from './parts.ts';
import type { Visit } from './visit.ts';

/** States by which events are looked for; `none`: no endpoint took it. */
const states = [...deliveryStatuses, 'none'] as const;

/** What is chosen, as the address has it; `null`: nothing. */
export interface EventChoice {
  readonly type: string | null;
  readonly state: (typeof states)[number] | null;
  readonly endpoint: string | null;
  /** As it was typed. */
  readonly until: string | null;
}

/**
 * The end of the minute or second that a field `datetime-local` says, in UTC, as the API takes it; `null` where it says none. What
 * happened in a minute is shown with its seconds, and belongs to it.
 */
export function endOf(typed: string): string | null {
  const parts = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)?(?:\.\d+)?$/.exec(typed);
  if (parts === null) return null;
  const [, day, minute, seconds = ':59'] = parts;
  const time = new Date(`${day}T${minute}${seconds}.999Z`);
  // A 30th of February would be another day.
  return Number.isNaN(time.getTime()) || !time.toISOString().startsWith(`${day}T`)
    ? null
    : time.toISOString();
}

/** What an address chooses; what cannot be chosen is as good as nothing. */
export function choiceOf({ request: { query }, desk }: Visit): EventChoice {
  const [type, endpoint] = [query.get('type'), query.get('endpoint')];
  const until = query.get('until')?.trim().slice(0, 40) ?? '';
  return {
    type: type !== null && desk.events.types.includes(type) ? type : null,
    state: states.find((state) => state === query.get('state')) ?? null,
    endpoint: endpoint !== null && /^we_[0-9a-f]{32}$/.test(endpoint) ? endpoint : null,
    until: until === '' ? null : until,
  };
}

function field(id: string, label: string, control: Html, after: Html | null = null): Html {
  return html`<div class="field"><label for="${id}">${label}</label>${control}${after}</div>`;
}

/** The choices that narrow the list of events down. They stand in the address, so that it can be kept and passed on. */
export function eventFilters(
  { desk, urlOf, voice: { words } }: Visit,
  { type, state, endpoint, until }: EventChoice,
  endpoints: readonly WebhookEndpoint[],
): Html {
  const { events, deliveries } = words;
  const isChosen = type !== null || state !== null || endpoint !== null || until !== null;
  const isWrong = until !== null && endOf(until) === null;
  const known = endpoints.map(({ id, url }) => [id, visible(url)] as const);
  // Its deliveries are kept when it is gone.
  const gone =
    endpoint === null || known.some(([id]) => id === endpoint)
      ? []
      : [[endpoint, words.endpoints.removed] as const];
  const select = (
    id: string,
    name: string,
    all: string,
    options: Parameters<typeof choice>[0]['options'],
    chosen: string | null,
  ) => choice({ id, name, options: [['', all], ...options], chosen: chosen ?? '' });
  const time = isWrong
    ? html`<input id="filter-until" name="until" type="text" value="${until}" aria-invalid="true" aria-describedby="until-wrong" autofocus>`
    : html`<input id="filter-until" name="until" type="datetime-local" value="${until ?? ''}">`;
  const form = html`<form class="filters" method="get" action="${urlOf('home')}">
${field(
  'filter-type',
  events.type,
  select(
    'filter-type',
    'type',
    events.all,
    desk.events.types.map((name) => [name, name] as const),
    type,
  ),
)}
${field(
  'filter-state',
  events.state,
  select(
    'filter-state',
    'state',
    deliveries.all,
    states.map((name) => [name, deliveries.states[name]] as const),
    state,
  ),
)}
${field('filter-endpoint', events.endpoint, select('filter-endpoint', 'endpoint', events.allEndpoints, [...known, ...gone], endpoint))}
${field('filter-until', events.until, time, isWrong ? html`<p class="small wrong" id="until-wrong">${events.untilWrong('2026-01-31T12:00')}</p>` : null)}
<div class="row"><button class="compact">${words.filter}</button>${isChosen ? html`<a href="${urlOf('home')}">${events.clear}</a>` : null}</div></form>`;
  const summary = html`<summary>${events.filters}</summary>`;
  // Open where something is chosen: on a phone the events would begin below the fold.
  return isChosen
    ? html`<details id="event-filters" open>${summary}${form}</details>`
    : html`<details id="event-filters">${summary}${form}</details>`;
}

/** Leads to the event with an id; what is chosen beside stays. `wrong`: what was typed, where there is no such event. */
export function eventSearch(
  { urlOf, voice: { words } }: Visit,
  chosen: EventChoice,
  wrong: string | null,
): Html {
  const { events } = words;
  const hidden = Object.entries(chosen).map(([name, value]) =>
    value === null ? null : html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const input =
    wrong === null
      ? html`<input id="event-id" name="id" maxlength="100" required spellcheck="false" autocapitalize="none" placeholder="evt_">`
      : html`<input id="event-id" name="id" maxlength="100" required spellcheck="false" autocapitalize="none" value="${wrong}" aria-invalid="true" aria-describedby="id-wrong" autofocus>`;
  return html`<form class="filters" method="get" action="${urlOf('home')}">${hidden}
${field('event-id', events.id, input, wrong === null ? null : html`<p class="small wrong" id="id-wrong">${events.notFound}</p>`)}
<div class="row"><button class="compact">${events.find}</button></div></form>`;
}
