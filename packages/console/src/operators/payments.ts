import type { PartnerTransfer, ReconciliationSummary } from '@ostiary/core/admin';
import type { ConsoleAnswer } from '@ostiary/core/console';
import { type Html, html, nameOf } from '@ostiary/core/pages';
import { noticeOf, problemRow } from '../frame.ts';
import { choiceField, counted, facts, foreignText, moment, pageLinks, stateBadge } from '../parts.ts';
import type { Language } from '../words.ts';
import { framed } from './frame.ts';
import {
  attempt,
  found,
  listed,
  modeOf,
  type OperatorContext,
  pageOf,
  parameter,
  unknownAct,
} from './visit.ts';

const perPage = 50;
const dayMs = 86_400_000;

/** State badges in which transfers are shown, by status. */
const badges = { pending: 'pending', completed: 'delivered', failed: 'dropped' } as const;

const statuses = ['pending', 'completed', 'failed'] as const;

type Status = (typeof statuses)[number];

function statusBadge({ status }: PartnerTransfer, { voice }: OperatorContext): Html {
  return stateBadge(badges[status], voice.words.tools.payment.states[status]);
}

const statusOf = (visit: OperatorContext): Status | null =>
  statuses.find((status) => status === parameter(visit, 'status')) ?? null;

/** Reads a day from the query; `null` if it is missing or not a day. */
function dayOf(visit: OperatorContext, name: string): Date | null {
  const text = parameter(visit, name);
  if (text === null || !/^\d{4}-\d\d-\d\d$/.test(text)) return null;
  const day = new Date(`${text}T00:00:00.000Z`);
  return Number.isNaN(day.getTime()) ? null : day;
}

/** Returns the filters in the query, for the list of payments and for links to it. */
function filtersOf(visit: OperatorContext) {
  const [status, reference] = [statusOf(visit), parameter(visit, 'reference')];
  const [from, last] = [dayOf(visit, 'from'), dayOf(visit, 'to')];
  return {
    filter: {
      ...(status !== null && { status }),
      ...(reference !== null && { reference }),
      ...(from !== null && { from }),
      ...(last !== null && { to: new Date(last.getTime() + dayMs) }),
    },
    kept: { status, reference, from: parameter(visit, 'from'), to: parameter(visit, 'to') },
  };
}

/** Makes a form field for a day. */
function dayField(name: string, label: string, value: string | null): Html {
  return html`<div class="field"><label for="${name}">${label}</label><input type="date" id="${name}" name="${name}" value="${value ?? ''}"></div>`;
}

function filterPanel(visit: OperatorContext): Html {
  const { slug, urls, voice, words } = visit;
  const { payments: text } = words;
  const { payment } = voice.words.tools;
  const { kept } = filtersOf(visit);
  const options = [
    ['', text.every] as const,
    ...statuses.map((name) => [name, payment.states[name]] as const),
  ];
  return html`<section class="panel" aria-labelledby="find"><h2 id="find">${text.find}</h2>
<form class="form" method="get" action="${urls.payments(slug)}"><input type="hidden" name="mode" value="${modeOf(visit)}">
${choiceField({ label: payment.status, name: 'status', options, chosen: kept.status ?? '' })}
<div class="field"><label for="reference">${text.reference}</label><input id="reference" name="reference" value="${kept.reference ?? ''}" maxlength="255" spellcheck="false" autocapitalize="none"></div>
${dayField('from', text.from, kept.from)}
${dayField('to', text.to, kept.to)}
<div class="row"><button class="compact">${words.audit.show}</button></div></form></section>`;
}

function paymentRow(transfer: PartnerTransfer, visit: OperatorContext): Html {
  const { slug, urls, voice } = visit;
  const { id, amount, currency, recipient, reference, createdAt } = transfer;
  return html`<li id="${id}"><p class="what"><a href="${urls.payment(slug, id)}">${amount} ${currency}</a> <span><code>${nameOf(recipient.kid)}</code>${reference === null ? null : html` · ${nameOf(reference)}`}</span> <span>${moment(createdAt, voice.language)}</span></p>${statusBadge(transfer, visit)}</li>`;
}

/** Shows the transfers of a partner, newest first, with a filter and a link to the exports. */
export async function payments(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { admin, query, slug, urls, words } = visit;
  const { name } = found(await admin.partners.get(slug));
  const owner = { partner: slug, mode: modeOf(visit) };
  const { filter, kept } = filtersOf(visit);
  const { transfers, next } = await listed(() =>
    admin.transfers.list(owner, { ...pageOf(visit, perPage), ...filter }),
  );
  const text = words.payments;
  const rows =
    transfers.length === 0
      ? html`<p class="muted">${text.none}</p>`
      : html`<ul class="rows">${transfers.map((transfer) => paymentRow(transfer, visit))}</ul>`;
  return framed(visit, {
    title: text.title,
    section: 'partners',
    crumbs: [[urls.partner(slug), name]],
    hasModes: true,
    body: html`<section class="panel" aria-label="${text.title}">${rows}
${pageLinks([
  [query.has('after') ? urls.payments(slug, kept) : null, words.first],
  [next === null ? null : urls.payments(slug, { ...kept, after: next }), words.next],
])}</section>
<div class="column">${filterPanel(visit)}
<section class="panel" aria-labelledby="days"><h2 id="days">${text.reconciliation}</h2>
<p class="small muted">${text.reconciliationHint}</p>
<form class="form" method="get" action="${urls.reconciliation(slug)}"><input type="hidden" name="mode" value="${owner.mode}">
${dayField('day', text.day, yesterday(visit))}
<div class="row"><button class="compact">${text.reconcile}</button></div></form></section></div>`,
  });
}

/** Returns the last day that is over, in UTC. */
const yesterday = ({ backend }: OperatorContext): string =>
  new Date(backend.now() - dayMs).toISOString().slice(0, 10);

/** Shows one transfer with the event about its outcome. */
export async function payment(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { admin, slug, id, urls, voice, words } = visit;
  const owner = { partner: slug, mode: modeOf(visit) };
  const transfer = found(await admin.transfers.get(owner, id));
  const event = await admin.transfers.event(owner, id);
  const { payment: text } = voice.words.tools;
  const { failure, metadata, reference, description, completedAt } = transfer;
  const told =
    event === null
      ? html`<p class="muted">${transfer.status === 'pending' ? text.noEventYet : text.noEvent}</p>`
      : html`<p><a href="${urls.webhooks(slug, { event: event.id, status: 'every' })}">${nameOf(event.type)}</a> <span class="small muted"><code>${event.id}</code> · ${moment(event.createdAt, voice.language)}</span></p>`;
  return framed(visit, {
    title: words.payments.one,
    section: 'partners',
    crumbs: [
      [urls.partner(slug), slug],
      [urls.payments(slug), words.payments.title],
    ],
    hasModes: true,
    body: html`<section class="panel" aria-labelledby="facts"><h2 id="facts">${text.facts}</h2>${facts([
      [text.status, statusBadge(transfer, visit)],
      failure === null
        ? null
        : [text.failure, html`<code>${nameOf(failure.code)}</code> ${nameOf(failure.message)}`],
      [text.total, html`${transfer.amount} ${transfer.currency}`],
      [text.recipient, html`<code>${nameOf(transfer.recipient.kid)}</code>`],
      reference === null ? null : [words.payments.reference, nameOf(reference)],
      description === null ? null : [words.payments.description, nameOf(description)],
      [text.time, moment(transfer.createdAt, voice.language)],
      completedAt === null ? null : [words.payments.completed, moment(completedAt, voice.language)],
      [text.id, html`<code>${id}</code>`],
    ])}
${metadata === null ? null : html`<h3>${words.payments.metadata}</h3>${foreignText(JSON.stringify(metadata, null, 2), words.payments.metadata)}`}</section>
<section class="panel" aria-labelledby="told"><h2 id="told">${text.event}</h2>${told}</section>`,
  });
}

function summaryPanel(summary: ReconciliationSummary, day: string, visit: OperatorContext): Html {
  const { slug, urls, voice, words } = visit;
  const text = words.payments;
  const { payment } = voice.words.tools;
  const known = (status: string): string => statuses.find((name) => name === status) ?? 'pending';
  const row = ({ currency, status, count, amount }: ReconciliationSummary['totals'][number]): Html =>
    html`<tr><th scope="row">${currency}</th><td>${payment.states[known(status) as Status]}</td><td>${counted(count, voice.language)}</td><td>${amount}</td></tr>`;
  const month = day.slice(0, 7);
  const download = (format: string, words: string, query: object) =>
    html`<li><a href="${urls.paymentFile(slug, { format, ...query })}" download>${words}</a></li>`;
  return html`${summary.final ? noticeOf(text.closed) : problemRow(text.open)}
<section class="panel" aria-labelledby="totals"><h2 id="totals">${day}</h2>
${summary.rows === 0 ? html`<p class="muted">${text.none}</p>` : html`<table><thead><tr><th scope="col">${text.currency}</th><th scope="col">${payment.status}</th><th scope="col">${text.count}</th><th scope="col">${text.amount}</th></tr></thead><tbody>${summary.totals.map(row)}</tbody></table>`}
${facts([
  [text.count, counted(summary.rows, voice.language)],
  [text.checksum, html`<code>${summary.sha256}</code>`],
])}</section>
<section class="panel" aria-labelledby="files"><h2 id="files">${text.files}</h2>
<h3>${text.forPrograms}</h3><ul>${download('csv', `CSV, ${day}`, { from: day, to: day })}${download('ndjson', `NDJSON, ${day}`, { from: day, to: day })}</ul>
<h3>${text.forSpreadsheets}</h3><p class="small muted">${text.forSpreadsheetsHint}</p>
<form class="form" method="get" action="${urls.paymentFile(slug)}"><input type="hidden" name="mode" value="${modeOf(visit)}"><input type="hidden" name="format" value="spreadsheet">
<div class="field"><label for="month">${text.month}</label><input type="month" id="month" name="month" value="${month}" required pattern="[0-9]{4}-[0-9]{2}"></div>
<div class="field"><label for="zone">${text.zone}</label><input id="zone" name="zone" value="UTC" required spellcheck="false" autocapitalize="none" list="zones"><datalist id="zones">${zones.map((zone) => html`<option value="${zone}"></option>`)}</datalist></div>
<div class="row"><button class="compact">${text.download}</button></div></form></section>`;
}

/** Time zones that the form field suggests; it also accepts every other one. */
const zones = ['America/Port-au-Prince', 'America/New_York', 'America/Sao_Paulo', 'Europe/Paris', 'UTC'];

/**
 * Shows the reconciliation of one day: the transfers that became final, their sums and checksum, and links to
 * the files.
 */
export async function reconciliation(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { admin, slug, urls, words } = visit;
  const { name } = found(await admin.partners.get(slug));
  const day = parameter(visit, 'day') ?? yesterday(visit);
  const request = { partner: slug, mode: modeOf(visit), from: day, to: day, format: 'csv' } as const;
  const result = await attempt(() => admin.reconciliation.summary(request));
  const text = words.payments;
  return framed(visit, {
    title: text.reconciliation,
    section: 'partners',
    crumbs: [
      [urls.partner(slug), name],
      [urls.payments(slug), text.title],
    ],
    hasModes: true,
    refused: 'problems' in result ? problemRow(text.noDay) : null,
    body: 'done' in result ? summaryPanel(result.done, day, visit) : html``,
  });
}

/** Returns the characters that spreadsheets of a language expect between cells and before decimals. */
const signsOf = (language: Language) =>
  language === 'en'
    ? ({ separator: ',', decimal: '.' } as const)
    : ({ separator: ';', decimal: ',' } as const);

/** Returns the first and the last day of a month. The last day is not in the future. */
function daysOf(month: string, now: number): { readonly from: string; readonly to: string } | null {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) return null;
  const [year, number] = month.split('-').map(Number) as [number, number];
  const last = new Date(Math.min(Date.UTC(year, number, 0), now)).toISOString().slice(0, 10);
  return { from: `${month}-01`, to: last };
}

/** Sends a file of a partner's transfers: for programs, or for spreadsheets. */
export async function paymentFile(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { admin, backend, slug, voice, words } = visit;
  found(await admin.partners.get(slug));
  const owner = { partner: slug, mode: modeOf(visit) };
  const format = parameter(visit, 'format');
  const type = 'text/csv; charset=utf-8';
  if (format === 'spreadsheet') {
    const month = parameter(visit, 'month') ?? '';
    const days = found(daysOf(month, backend.now()));
    const { language } = voice;
    const style = { ...signsOf(language), timeZone: parameter(visit, 'zone') ?? 'UTC' };
    const titles = words.payments.columns;
    const stream = await listed(() =>
      admin.reconciliation.spreadsheet({ ...owner, ...days, ...style, titles }),
    );
    return { status: 200, download: { type, stream, fileName: `${slug}-${owner.mode}-${month}.csv` } };
  }
  if (format !== 'csv' && format !== 'ndjson') return unknownAct();
  const [from, to] = [parameter(visit, 'from') ?? '', parameter(visit, 'to') ?? ''];
  const stream = await listed(() => admin.reconciliation.export({ ...owner, from, to, format }));
  const types = { csv: type, ndjson: 'application/x-ndjson; charset=utf-8' };
  const fileName = `${slug}-${owner.mode}-${from}${from === to ? '' : `-${to}`}.${format}`;
  return { status: 200, download: { type: types[format], stream, fileName } };
}
