import type { ListedEvent, PartnerRequest, WebhookEndpoint } from '@ostiary/core/admin';
import type { ConsoleAnswer } from '@ostiary/core/console';
import { fillText, type Html, html, nameOf } from '@ostiary/core/pages';
import { endOf, eventStates } from '../event-filter.ts';
import { typesOf } from '../home.ts';
import { orderField, timeOrders } from '../list-order.ts';
import { enabledBadge, filterFold, moment, stateBadge, stateBadges, stateOptions } from '../parts.ts';
import { failingRow } from './failing.ts';
import { fieldsOf } from './fields.ts';
import { framed } from './frame.ts';
import { sortedList } from './sorted-list.ts';
import { modeOf, type OperatorContext, parameter } from './visit.ts';

/** Sections of the operators' pages that list objects of all partners. Each section has a page. */
type Section = 'failing' | 'endpoints' | 'events' | 'requests' | 'allPayments';

type Query = Readonly<Record<string, string | null>>;

/** Reads the filters for a list of all partners' objects from the query. */
export function choiceOf(visit: OperatorContext) {
  const [partner, until] = [parameter(visit, 'partner'), parameter(visit, 'until')];
  const end = until === null ? null : endOf(until);
  const mode = modeOf(visit);
  return {
    ...{ partner, until, isWrong: until !== null && end === null },
    /** Filters by mode and partner, as the administration API takes them. */
    ofPartner: { mode, ...(partner !== null && { partner }) },
    /** Filter by the latest time. A time that cannot be parsed does not filter. */
    upTo: end === null ? {} : { until: new Date(end) },
  };
}

/** Makes a page with a list of all partners' objects below the form with the list's filters. */
export async function everywherePage(
  visit: OperatorContext,
  section: Section,
  {
    title,
    kept,
    fields,
    list,
  }: {
    readonly title: string;
    /** Filters of the list that are in the URL's query. */
    readonly kept: Query;
    /** Form fields of the further filters, which follow the filter by partner. */
    readonly fields: (form: ReturnType<typeof filterFields>) => Html | null;
    readonly list: (urlOf: (query: Query) => string) => Promise<Html>;
  },
): Promise<ConsoleAnswer> {
  const { urls, voice, words } = visit;
  const { partner, isWrong } = choiceOf(visit);
  const form = filterFields(visit, isWrong);
  const address = urls[section];
  const isNarrowed = Object.values(kept).some((value) => value !== null);
  const filters = html`<form class="filters" method="get" action="${address({ mode: null })}"><input type="hidden" name="mode" value="${modeOf(visit)}">${orderField(visit.query)}
${form.line('partner', words.everywhere.partnerHint, partner ?? '')}
${fields(form)}
<div class="row"><button class="compact">${voice.words.filter}</button>${isNarrowed ? html`<a href="${address()}">${words.audit.everything}</a>` : null}</div></form>`;
  return framed(visit, {
    ...{ title, section, isFirst: true, hasModes: true, layout: 'one' },
    refused: form.summary,
    body: html`<section class="panel" aria-label="${title}">${filterFold(voice, { isNarrowed, form: filters })}
${await list((query) => address({ ...kept, ...query }))}</section>`,
  });
}

/** Makes the form fields for the filters, with an error message beside a time that cannot be parsed. */
function filterFields(visit: OperatorContext, isWrong: boolean) {
  const { voice, words } = visit;
  const { events, payments, search } = voice.words;
  const labels = {
    ...{ partner: search.kinds.partner, state: words.state, until: events.until },
    ...{ from: payments.from, to: payments.to, type: events.type },
  };
  const problem = fillText(voice.language, events.untilWrong, { example: '2026-01-31T12:00' });
  const filled = isWrong ? { form: new Map(), problems: new Map([['until', [problem]]]) } : null;
  return fieldsOf(visit, labels, filled);
}

/** Shows the webhook endpoints of all partners to which deliveries fail now. */
export function failingEndpoints(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { admin, words } = visit;
  const { partner, ofPartner } = choiceOf(visit);
  return everywherePage(visit, 'failing', {
    title: words.nav.failing,
    kept: { partner },
    fields: () => null,
    list: async (urlOf) => html`<p class="small muted">${words.overview.failingHint}</p>
${await sortedList(visit, {
  read: ({ by: _, ...request }) => admin.webhooks.failing({ ...request, ...ofPartner }),
  count: await admin.webhooks.countFailing(ofPartner),
  rowOf: (endpoint) => failingRow(endpoint, visit),
  ...{ urlOf, empty: words.everywhere.noFailing, orders: ['oldest', 'newest'] },
})}`,
  });
}

function endpointRow(endpoint: WebhookEndpoint, { urls, voice, words }: OperatorContext): Html {
  const { id, partner, mode, url, enabled } = endpoint;
  return html`<li><p class="what"><a href="${urls.endpoint(partner, id, { mode })}">${nameOf(url)}</a> <span>${partner} · ${typesOf(endpoint, voice.words)}</span></p>${enabledBadge(enabled, words)}</li>`;
}

/** Shows the webhook endpoints of all partners. */
export function everyEndpoint(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { admin, voice, words } = visit;
  const { partner, ofPartner } = choiceOf(visit);
  const state = (['enabled', 'disabled'] as const).find((one) => one === parameter(visit, 'state')) ?? null;
  const search = { ...ofPartner, ...(state !== null && { enabled: state === 'enabled' }) };
  const states = [
    ['', words.webhooks.every] as const,
    ['enabled', words.enabled] as const,
    ['disabled', words.disabled] as const,
  ];
  return everywherePage(visit, 'endpoints', {
    title: voice.words.endpoints.title,
    kept: { partner, state },
    fields: (form) => form.select('state', states, state ?? ''),
    list: async (urlOf) =>
      sortedList(visit, {
        read: (request) => admin.webhooks.sorted({ ...request, ...search }),
        count: await admin.webhooks.count(search),
        rowOf: (endpoint) => endpointRow(endpoint, visit),
        ...{ urlOf, empty: words.webhooks.noEndpoints },
      }),
  });
}

function eventRow(event: ListedEvent, { urls, voice }: OperatorContext): Html {
  const { id, partner, mode, type, createdAt, deliveries } = event;
  return html`<li id="${id}"><p class="what"><a href="${urls.webhooks(partner, { mode, status: 'every', event: id })}">${nameOf(type)}</a> <span><code>${nameOf(id)}</code></span> <span>${partner} · ${moment(createdAt, voice.language)}</span></p>${stateBadges(deliveries, voice.words)}</li>`;
}

/** Shows the events of all partners, with the states of their deliveries. */
export function everyEvent(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { admin, backend, voice, words } = visit;
  const { events: text, deliveries } = voice.words;
  const { partner, until, ofPartner, upTo } = choiceOf(visit);
  const type = parameter(visit, 'type');
  const status = eventStates.find((one) => one === parameter(visit, 'state')) ?? null;
  const search = {
    ...ofPartner,
    ...upTo,
    ...(type !== null && { type }),
    ...(status !== null && { status }),
  };
  const { types } = backend.events;
  const known = type === null || types.includes(type) ? types : [...types, type];
  const states = [...stateOptions(voice.words), ['none', deliveries.states.none] as const];
  return everywherePage(visit, 'events', {
    title: text.title,
    kept: { partner, type, state: status, until },
    fields: (
      form,
    ) => html`${form.select('type', [['', text.all], ...known.map((one) => [one, nameOf(one)] as const)], type ?? '')}
${form.select('state', [['', deliveries.all], ...states], status ?? '')}
${form.time('until', until)}`,
    list: async (urlOf) =>
      sortedList(visit, {
        read: ({ by: _, ...request }) => admin.webhooks.sortedEvents({ ...request, ...search }),
        count: await admin.webhooks.countEvents(search),
        rowOf: (event) => eventRow(event, visit),
        ...{ urlOf, empty: words.everywhere.noEvents, orders: timeOrders },
      }),
  });
}

function requestRow(request: PartnerRequest, { urls, voice }: OperatorContext): Html {
  const { id, partner, mode, method, route, status, code, createdAt, durationMs } = request;
  const failure = code === null ? null : html` · <code>${nameOf(code)}</code>`;
  return html`<li id="${id}"><p class="what"><a href="${urls.request(partner, id, { mode })}"><code>${method} ${nameOf(route)}</code></a> <span>${partner} · ${moment(createdAt, voice.language)} · ${durationMs} ms${failure}</span></p>${stateBadge(status < 400 ? 'delivered' : 'dropped', String(status))}</li>`;
}

/** Shows the logged API requests of all partners. */
export function everyRequest(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { admin, voice, words } = visit;
  const { requests: text } = voice.words;
  const { partner, until, ofPartner, upTo } = choiceOf(visit);
  const state = parameter(visit, 'state') === 'failed' ? 'failed' : null;
  const search = { ...ofPartner, ...upTo, ...(state !== null && { failed: true }) };
  const states = [['', text.all] as const, ['failed', text.failed] as const];
  return everywherePage(visit, 'requests', {
    title: text.title,
    kept: { partner, until, state },
    fields: (form) => html`${form.select('state', states, state ?? '')}
${form.time('until', until)}`,
    list: async (urlOf) =>
      sortedList(visit, {
        read: ({ by: _, ...request }) => admin.requests.sorted({ ...request, ...search }),
        count: await admin.requests.count(search),
        rowOf: (request) => requestRow(request, visit),
        ...{ urlOf, empty: words.everywhere.noRequests, orders: timeOrders },
      }),
  });
}
