import {
  type ConsoleAnswer,
  deliveryState,
  failedAttempts,
  PartnerError,
  type PartnerEvent,
} from '@ostiary/core/console';
import { fill, type Html, html, nameOf } from '@ostiary/core/pages';
import { deliveriesPerPage, placeOf, queryOf } from '../api.ts';
import { answerFramed, problemRow } from '../frame.ts';
import { deliveryBadge, stateBadges } from '../parts.ts';
import { parameterOf } from '../query.ts';
import { type ApiCall, apiSnippets } from '../snippets.ts';
import { perPage } from '../two-way.ts';
import type { Visit } from '../visit.ts';
import { dayPanel, filterOf, type PaymentContext, paymentList, yesterday } from './list.ts';
import { paymentFacts, paymentSteps } from './one.ts';
import { fileOf, filesPanel, reconciliationPanel, spreadsheetProblem } from './reconciliation.ts';

function contextOf({ backend, request, urlOf, voice }: Visit): PaymentContext {
  return {
    ...{ query: request.query, voice, now: backend.now() },
    places: {
      list: (query = {}) => urlOf('payments', query),
      one: (id) => urlOf('payment', { id }),
      reconciliation: (query = {}) => urlOf('reconciliation', query),
      file: (query = {}) => urlOf('paymentFile', query),
      kept: null,
    },
  };
}

/** Wraps a page: a session whose key lacks the scope gets a sentence that says so, and no data. */
export const withScope =
  (scope: string, show: (visit: Visit) => Promise<ConsoleAnswer>) =>
  async (visit: Visit): Promise<ConsoleAnswer> => {
    try {
      return await show(visit);
    } catch (error) {
      if (!(error instanceof PartnerError) || error.code !== 'insufficient_scope') throw error;
      const { language, words } = visit.voice;
      const sentence = fill(language, words.payments.missing, { scope: html`<code>${scope}</code>` });
      return answerFramed(visit, {
        title: words.payments.title,
        layout: 'one',
        section: 'payments',
        status: 403,
        body: html`<section class="panel" aria-label="${words.payments.title}"><p>${sentence}</p></section>`,
      });
    }
  };

/** Shows the call of the partner API that returns what the page shows. */
function callPanel({ backend, voice }: Visit, title: string, call: ApiCall): Html {
  return html`<section class="panel" aria-labelledby="calls"><h2 id="calls">${voice.words.snippets.title}</h2>
${apiSnippets(backend, voice, { id: 'call', title, call })}</section>`;
}

/** Shows the payments of the partner, sorted by time, with filters. */
export async function payments(visit: Visit): Promise<ConsoleAnswer> {
  const { api, request, voice } = visit;
  const { payments: text, tools } = voice.words;
  const { status, reference, from, to } = filterOf(request.query);
  const [createdFrom, createdTo] = [from?.toISOString() ?? null, to?.toISOString() ?? null];
  const filters = queryOf({ status, reference, createdFrom, createdTo });
  const place = placeOf(request.query);
  const answer = await api('listTransfers', { query: { ...filters, ...place, limit: String(perPage) } });
  const { data: transfers, nextCursor: next, previousCursor: previous, count } = answer;
  const [newest] = transfers;
  const call = { operation: 'listPayments', id: null, body: null, query: filters };
  return answerFramed(visit, {
    title: text.title,
    layout: 'main-first',
    section: 'payments',
    isFirst: true,
    said:
      newest === undefined
        ? text.none
        : `${newest.amount} ${newest.currency}: ${tools.payment.states[newest.status]}`,
    body: paymentList(
      { transfers, next, previous, count },
      contextOf(visit),
      callPanel(visit, text.callList, call),
    ),
  });
}

/** Lists the newest deliveries of the event about a payment, with the state of each. */
async function deliveriesOf({ id }: PartnerEvent, visit: Visit): Promise<Html> {
  const { api, backend, urlOf, voice } = visit;
  const page = await api('listEventDeliveries', {
    path: { id },
    query: { limit: String(deliveriesPerPage) },
  });
  const { data: endpoints } = await api('listWebhooks');
  const urlOfEndpoint = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint.url]));
  if (page.data.length === 0) return stateBadges([], voice.words);
  const rows = page.data.map((delivery) => {
    const state = deliveryState(delivery);
    const { nextAttemptAt, endpointId } = delivery;
    const endpoint = urlOfEndpoint.get(endpointId) ?? voice.words.endpoints.removed;
    const badge = deliveryBadge({ state, failures: failedAttempts(delivery), nextAttemptAt }, backend, voice);
    return html`<li><p class="what"><a href="${`${urlOf('event', { id })}#${delivery.id}`}">${nameOf(endpoint)}</a></p>${badge}</li>`;
  });
  return html`<ul class="rows">${rows}</ul>`;
}

/** Shows the page of a payment: its state, its steps, and the deliveries of its event. */
export async function payment(visit: Visit): Promise<ConsoleAnswer> {
  const { api, id, mode, urlOf, voice } = visit;
  const { payments: text, tools } = voice.words;
  const transfer = await api('getPayment', { path: { id } });
  const { event } = await api('getPaymentEvent', { path: { id } });
  const told = event && {
    ...event,
    href: urlOf('event', { id: event.id }),
    deliveries: await deliveriesOf(event, visit),
  };
  return answerFramed(visit, {
    title: mode === 'test' ? tools.payment.one : text.one,
    layout: 'main-first',
    section: 'payments',
    said: `${tools.payment.status}: ${tools.payment.states[transfer.status]}`,
    body: html`<section class="panel" aria-labelledby="facts"><h2 id="facts">${tools.payment.facts}</h2>
<div id="payment-facts" data-live>${paymentFacts(transfer, voice)}</div></section>
<div class="column"><section class="panel" aria-labelledby="steps"><h2 id="steps">${text.history}</h2>
<div id="payment-steps" data-live>${paymentSteps(transfer, told, voice)}</div>
${mode === 'test' ? html`<p><a href="${urlOf('tools')}#payment">${tools.payment.another}</a></p>` : null}</section>
${callPanel(visit, text.callOne, { operation: 'getPayment', id, body: null })}</div>`,
  });
}

/**
 * Shows the payments that became final on a day as sums, with links to the files of the day, and the form for
 * the file of its month.
 */
export async function reconciliation(visit: Visit): Promise<ConsoleAnswer> {
  const { api, backend, request, voice } = visit;
  const context = contextOf(visit);
  const text = voice.words.payments;
  const day = parameterOf(request.query, 'day') ?? yesterday(backend.now());
  const page = {
    title: text.reconciliation,
    layout: 'main-first',
    section: 'payments',
  } as const;
  try {
    const summary = await api('getReconciliation', { query: { date: day } });
    const call = {
      operation: 'exportReconciliation',
      id: null,
      body: null,
      query: { date: day, format: 'csv' },
    };
    return answerFramed(visit, {
      ...page,
      body: html`${reconciliationPanel(summary, day, context)}
<div class="column">${dayPanel(context, day)}${filesPanel(day, context)}${callPanel(visit, text.callExport, call)}</div>`,
    });
  } catch (error) {
    if (!(error instanceof PartnerError) || error.code !== 'invalid_request') throw error;
    return answerFramed(visit, {
      ...page,
      status: 400,
      body: html`${problemRow(text.noDay)}
${dayPanel(context, yesterday(backend.now()))}`,
    });
  }
}

/**
 * Sends a file of final payments in the format that the URL names: for programs, as the partner API returns
 * it, or for spreadsheets. Shows the form again if there is no such month or time zone.
 */
export async function paymentFile(visit: Visit): Promise<ConsoleAnswer> {
  const context = contextOf(visit);
  try {
    const asked = fileOf(context, visit);
    const { from, to, type, fileName } = asked;
    const file =
      asked.format === 'spreadsheet'
        ? await visit.file('exportSpreadsheet', { body: JSON.stringify({ from, to, ...asked.style }) })
        : await visit.file('downloadReconciliation', { query: { from, to, format: asked.format } });
    return { status: 200, download: { type, fileName, stream: file.stream } };
  } catch (error) {
    return answerFramed(visit, {
      ...{ title: visit.voice.words.payments.reconciliation, layout: 'main-first', section: 'payments' },
      status: 400,
      body: html`${spreadsheetProblem(error, context)}
${filesPanel(yesterday(context.now), context)}`,
    });
  }
}
