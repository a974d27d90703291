import type { Transfer } from '@ostiary/core/console';
import { type Html, html, nameOf } from '@ostiary/core/pages';
import { startOfDay } from '../calendar.ts';
import { orderField, timeOrders } from '../list-order.ts';
import { choiceField, filterFold, moment, stateBadge } from '../parts.ts';
import { parameterOf } from '../query.ts';
import { aroundPage } from '../two-way.ts';
import type { Voice } from '../words.ts';

type Query = { readonly [parameter: string]: string | null | undefined };

/** URLs of the pages about the payments of a partner. */
interface PaymentPlaces {
  readonly list: (query?: Query) => string;
  readonly one: (id: string) => string;
  readonly reconciliation: (query?: Query) => string;
  readonly file: (query?: Query) => string;
  /**
   * Hidden form field with the mode (live or test), so that the next page shows the same mode; `null` for a
   * session that can see one mode only.
   */
  readonly kept: Html | null;
}

/** Context of a page about payments. */
export interface PaymentContext {
  readonly places: PaymentPlaces;
  readonly query: URLSearchParams;
  readonly voice: Voice;
  readonly now: number;
}

const dayMs = 86_400_000;

/** Statuses of transfers. */
export const statuses = ['pending', 'completed', 'failed'] as const;

/** Delivery states whose badges stand for the status of a transfer, by that status. */
const badges = { pending: 'pending', completed: 'delivered', failed: 'dropped' } as const;

/** Shows the status of a transfer in words and colour. */
export const statusBadge = (status: keyof typeof badges, { words }: Voice): Html =>
  stateBadge(badges[status], words.tools.payment.states[status]);

/** Filters of a list of payments in the URL; `null` for those that are missing or invalid. */
export interface PaymentFilter {
  readonly status: (typeof statuses)[number] | null;
  readonly reference: string | null;
  /** Earliest time of initiation of the listed payments, inclusive. */
  readonly from: Date | null;
  /** Latest time of initiation of the listed payments, exclusive. */
  readonly to: Date | null;
}

/** Reads the filters of a list of payments from the URL. */
export function filterOf(query: URLSearchParams): PaymentFilter {
  const last = startOfDay(parameterOf(query, 'to') ?? '');
  return {
    status: statuses.find((status) => status === query.get('status')) ?? null,
    reference: parameterOf(query, 'reference'),
    from: startOfDay(parameterOf(query, 'from') ?? ''),
    to: last && new Date(last.getTime() + dayMs),
  };
}

const dayOf = (start: Date | null): string | null => start?.toISOString().slice(0, 10) ?? null;

/** Returns the URL query of a list of payments with the given filters. */
export const queryOf = ({ status, reference, from, to }: PaymentFilter) => ({
  ...{ status, reference, from: dayOf(from) },
  to: dayOf(to && new Date(to.getTime() - dayMs)),
});

/** Returns the last day that is over, in UTC. */
export const yesterday = (now: number): string => new Date(now - dayMs).toISOString().slice(0, 10);

/** Makes a form field for a day. */
function dayField(name: string, label: string, value: string | null): Html {
  return html`<div class="field"><label for="${name}">${label}</label><input type="date" id="${name}" name="${name}" value="${value ?? ''}"></div>`;
}

function filters({ places, query, voice }: PaymentContext): Html {
  const { events, payments: text, tools, filter: label } = voice.words;
  const chosen = queryOf(filterOf(query));
  const isNarrowed = Object.values(chosen).some((value) => value !== null);
  const { status, reference, from, to } = chosen;
  const options = [
    ['', text.every] as const,
    ...statuses.map((name) => [name, tools.payment.states[name]] as const),
  ];
  const form = html`<form class="filters" method="get" action="${places.list()}">${places.kept}${orderField(query)}
${choiceField({ label: tools.payment.status, name: 'status', options, chosen: status ?? '' })}
<div class="field"><label for="reference">${text.reference}</label><input id="reference" name="reference" value="${reference ?? ''}" maxlength="100" spellcheck="false" autocapitalize="none"></div>
${dayField('from', text.from, from)}
${dayField('to', text.to, to)}
<div class="row"><button class="compact">${label}</button>${isNarrowed ? html`<a href="${places.list()}">${events.clear}</a>` : null}</div></form>`;
  return filterFold(voice, { isNarrowed, form });
}

/** Makes the form that opens the reconciliation of a day. */
export function dayPanel({ places, voice }: PaymentContext, day: string): Html {
  const text = voice.words.payments;
  return html`<section class="panel" aria-labelledby="days"><h2 id="days">${text.reconciliation}</h2>
<p class="small muted">${text.reconciliationHint}</p>
<form class="form" method="get" action="${places.reconciliation()}">${places.kept}
${dayField('day', text.day, day)}
<div class="row"><button class="compact">${text.reconcile}</button></div></form></section>`;
}

/** Shows a payment in a list, with the partner if the list has payments of several partners. */
export function paymentRow(
  transfer: Transfer,
  {
    href,
    partner = null,
    voice,
  }: Pick<PaymentContext, 'voice'> & {
    /** URL of the page of the payment. */
    readonly href: string;
    readonly partner?: string | null;
  },
): Html {
  const { id, status, amount, currency, recipient, reference, createdAt } = transfer;
  const named = reference === null ? null : html` · ${nameOf(reference)}`;
  const owner = partner === null ? null : html`${partner} · `;
  return html`<li id="${id}"><p class="what"><a href="${href}">${amount} ${currency} <span class="hidden">${id}</span></a> <span>${owner}<code>${nameOf(recipient.kid)}</code>${named}</span> <span>${moment(createdAt, voice.language)}</span></p>${statusBadge(status, voice)}</li>`;
}

/** A page of payments, sorted by time. */
export interface PaymentPage {
  readonly transfers: readonly Transfer[];
  /** Number of payments that fit the filters, counted up to 10,000. */
  readonly count: number;
  readonly next: string | null;
  readonly previous: string | null;
}

/** Makes the rows of a page of payments, with the links to the pages around it. */
function paymentRows({ transfers, ...page }: PaymentPage, context: PaymentContext): Html {
  const { places, query, voice } = context;
  if (transfers.length === 0) return html`<p class="muted">${voice.words.payments.none}</p>`;
  const kept = queryOf(filterOf(query));
  const { head, links } = aroundPage(context, {
    ...{ ...page, shown: transfers.length, orders: timeOrders },
    urlOf: (place) => places.list({ ...kept, ...place }),
  });
  return html`${head}
<ul class="rows">${transfers.map((transfer) => paymentRow(transfer, { href: places.one(transfer.id), voice }))}</ul>
${links}`;
}

/** Makes the body of the list of payments: its filters, the list, and the form for the reconciliation of a day. */
export function paymentList(page: PaymentPage, context: PaymentContext, more: Html | null = null): Html {
  const { title } = context.voice.words.payments;
  return html`<section class="panel" aria-label="${title}">${filters(context)}
<div id="payment-list" data-live>${paymentRows(page, context)}</div></section>
<div class="column">${dayPanel(context, yesterday(context.now))}${more}</div>`;
}
