import type { ConsoleAnswer } from '@ostiary/core/console';
import { type Html, html } from '@ostiary/core/pages';
import { problemRow } from '../frame.ts';
import { orderOf, orders, timeOrders } from '../list-order.ts';
import { facts } from '../parts.ts';
import { dayPanel, filterOf, type PaymentContext, paymentList, yesterday } from '../payments/list.ts';
import { paymentFacts, paymentSteps } from '../payments/one.ts';
import { fileOf, filesPanel, reconciliationPanel, spreadsheetProblem } from '../payments/reconciliation.ts';
import { perPage } from '../two-way.ts';
import { framed, type OperatorFrame } from './frame.ts';
import { attempt, found, listed, modeOf, type OperatorContext, parameter, twoWayPageOf } from './visit.ts';

function contextOf(visit: OperatorContext): PaymentContext {
  const { backend, query, slug, urls, voice } = visit;
  return {
    ...{ query, voice, now: backend.now() },
    places: {
      list: (query) => urls.payments(slug, query),
      one: (id) => urls.payment(slug, id),
      reconciliation: (query) => urls.reconciliation(slug, query),
      file: (query) => urls.paymentFile(slug, query),
      kept: html`<input type="hidden" name="mode" value="${modeOf(visit)}">`,
    },
  };
}

/** Shows a page that is reached from the list of a partner's payments, with a link back for those who may see the list. */
function framedBelowPayments(
  visit: OperatorContext,
  partnerName: string,
  page: Pick<OperatorFrame, 'title' | 'refused' | 'body' | 'hasModes'>,
): ConsoleAnswer {
  const { may, slug, urls, voice } = visit;
  return framed(visit, {
    section: 'partners',
    crumbs: [
      [urls.partner(slug), partnerName],
      ...(may.includes('payments') ? [[urls.payments(slug), voice.words.payments.title] as const] : []),
    ],
    hasModes: true,
    ...page,
  });
}

/** Shows the transfers of a partner, sorted by time, with a filter and the way to the reconciliation of a day. */
export async function payments(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { admin, query, slug, urls, voice } = visit;
  const { name } = found(await admin.partners.get(slug));
  const owner = { partner: slug, mode: modeOf(visit) };
  const { status, reference, from, to } = filterOf(query);
  const filters = {
    ...(status !== null && { status }),
    ...(reference !== null && { reference }),
    ...(from !== null && { from }),
    ...(to !== null && { to }),
  };
  const { descending } = orders[orderOf(query, timeOrders)];
  const page = await listed(() =>
    admin.transfers.list(owner, { descending, ...twoWayPageOf(visit, perPage), ...filters }),
  );
  const count = await admin.transfers.count(owner, filters);
  return framed(visit, {
    title: voice.words.payments.title,
    section: 'partners',
    crumbs: [[urls.partner(slug), name]],
    hasModes: true,
    body: paymentList({ ...page, count }, contextOf(visit)),
  });
}

/** Shows one transfer with the event about its outcome. */
export async function payment(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { admin, slug, id, urls, voice, words } = visit;
  const owner = { partner: slug, mode: modeOf(visit) };
  const transfer = found(await admin.transfers.get(owner, id));
  const event = await admin.transfers.event(owner, id);
  const { payments: text, tools } = voice.words;
  const told = event && {
    ...{ ...event, deliveries: null },
    href: urls.webhooks(slug, { event: event.id, status: 'every' }),
  };
  return framedBelowPayments(visit, slug, {
    title: text.one,
    // The same id in the other mode does not exist.
    hasModes: false,
    body: html`<section class="panel" aria-labelledby="facts"><h2 id="facts">${tools.payment.facts}</h2>${paymentFacts(transfer, voice)}
${facts([[words.mode, words[owner.mode]]])}</section>
<section class="panel" aria-labelledby="steps"><h2 id="steps">${text.history}</h2>${paymentSteps(transfer, told, voice)}</section>`,
  });
}

/**
 * Shows the reconciliation of one day: what became final, its sums and its checksum. The files name who was paid, so that
 * only operators with the right to payments get them.
 */
export async function reconciliation(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { admin, backend, may, slug, voice } = visit;
  const { name } = found(await admin.partners.get(slug));
  const day = parameter(visit, 'day') ?? yesterday(backend.now());
  const request = { partner: slug, mode: modeOf(visit), from: day, to: day, format: 'csv' } as const;
  const result = await attempt(() => admin.reconciliation.summary(request));
  const text = voice.words.payments;
  const context = contextOf(visit);
  const seesPayments = may.includes('payments');
  const body = (): Html | null =>
    'done' in result
      ? html`${reconciliationPanel(result.done, day, context)}
<div class="column">${dayPanel(context, day)}${seesPayments ? filesPanel(day, context) : null}</div>`
      : null;
  return framedBelowPayments(visit, name, {
    title: text.reconciliation,
    refused: 'problems' in result ? problemRow(text.noDay) : null,
    body: html`${body()}`,
  });
}

/**
 * Sends a file of a partner's final transfers in the format that the URL names: for programs, or for
 * spreadsheets. Shows the form again if there is no such month or time zone.
 */
export async function paymentFile(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { admin, slug, voice } = visit;
  const { name } = found(await admin.partners.get(slug));
  const owner = { partner: slug, mode: modeOf(visit) };
  const context = contextOf(visit);
  try {
    const asked = fileOf(context, owner);
    const { from, to, type, fileName } = asked;
    const stream = await listed(() =>
      asked.format === 'spreadsheet'
        ? admin.reconciliation.spreadsheet({ ...owner, from, to, ...asked.style })
        : admin.reconciliation.export({ ...owner, from, to, format: asked.format }),
    );
    return { status: 200, download: { type, stream, fileName } };
  } catch (error) {
    return framedBelowPayments(visit, name, {
      title: voice.words.payments.reconciliation,
      refused: spreadsheetProblem(error, context),
      body: filesPanel(yesterday(context.now), context),
    });
  }
}
