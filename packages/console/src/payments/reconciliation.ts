import { PartnerError, type ReconciliationSummary } from '@ostiary/core/console';
import { type Html, html } from '@ostiary/core/pages';
import { noticeOf, problemRow } from '../frame.ts';
import { counted, facts } from '../parts.ts';
import type { Language } from '../words.ts';
import type { PaymentContext } from './list.ts';

/** Time zones that the form field suggests; it also accepts every other one. */
const zones = ['America/Port-au-Prince', 'America/New_York', 'America/Sao_Paulo', 'Europe/Paris', 'UTC'];

function totalsTable({ totals }: ReconciliationSummary, { voice }: PaymentContext): Html {
  const { payments: text, tools } = voice.words;
  const { states, status } = tools.payment;
  const row = (total: ReconciliationSummary['totals'][number]): Html =>
    html`<tr><th scope="row">${total.currency}</th><td>${total.status === 'failed' ? states.failed : states.completed}</td><td>${counted(total.count, voice.language)}</td><td>${total.amount}</td></tr>`;
  return html`<table class="sums"><thead><tr><th scope="col">${text.currency}</th><th scope="col">${status}</th><th scope="col">${text.count}</th><th scope="col">${text.amount}</th></tr></thead><tbody>${totals.map(row)}</tbody></table>`;
}

/**
 * Makes the links to the files of a day for programs, and the form for the file of a month for spreadsheets. A form that
 * is shown again keeps its month and time zone.
 */
export function filesPanel(day: string, { places, voice, query, now }: PaymentContext): Html {
  const text = voice.words.payments;
  const download = (format: string, name: string): Html =>
    html`<li><a href="${places.file({ format, from: day, to: day })}" download>${name}, ${day}</a></li>`;
  return html`<section class="panel" aria-labelledby="files"><h2 id="files">${text.files}</h2>
<h3>${text.forPrograms}</h3><ul>${download('csv', 'CSV')}${download('ndjson', 'NDJSON')}</ul>
<h3>${text.forSpreadsheets}</h3><p class="small muted">${text.forSpreadsheetsHint}</p>
<form class="form" method="get" action="${places.file()}">${places.kept}<input type="hidden" name="format" value="spreadsheet">
<div class="field"><label for="month">${text.month}</label><input type="month" id="month" name="month" value="${query.get('month') ?? day.slice(0, 7)}" max="${new Date(now).toISOString().slice(0, 7)}" required pattern="[0-9]{4}-[0-9]{2}"></div>
<div class="field"><label for="zone">${text.zone}</label><input id="zone" name="zone" value="${query.get('zone') ?? 'UTC'}" required spellcheck="false" autocapitalize="none" list="zones"><datalist id="zones">${zones.map((zone) => html`<option value="${zone}"></option>`)}</datalist></div>
<div class="row"><button class="compact">${text.download}</button></div></form></section>`;
}

/** Shows the transfers that became final on a day: their sums and checksum, and whether the day is closed. */
export function reconciliationPanel(
  summary: ReconciliationSummary,
  day: string,
  context: PaymentContext,
): Html {
  const { voice } = context;
  const text = voice.words.payments;
  return html`${summary.final ? noticeOf(text.closed) : problemRow(text.open)}
<section class="panel" aria-labelledby="totals"><h2 id="totals">${day}</h2>
${summary.rows === 0 ? html`<p class="muted">${text.none}</p>` : totalsTable(summary, context)}
${facts([
  [text.count, counted(summary.rows, voice.language)],
  [text.checksum, html`<code>${summary.sha256}</code>`],
])}</section>`;
}

/** Returns the characters that spreadsheets of a language expect between cells and before decimals. */
const signsOf = (language: Language) =>
  language === 'en'
    ? ({ separator: ',', decimal: '.' } as const)
    : ({ separator: ';', decimal: ',' } as const);

/** Returns the first and the last day of a month; `null` if there is no such month. The last day is not in the future. */
function daysOf(month: string, now: number): { readonly from: string; readonly to: string } | null {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) return null;
  const [year, number] = month.split('-').map(Number) as [number, number];
  const last = new Date(Math.min(Date.UTC(year, number, 0), now)).toISOString().slice(0, 10);
  return { from: `${month}-01`, to: last };
}

const types = { csv: 'text/csv; charset=utf-8', ndjson: 'application/x-ndjson; charset=utf-8' } as const;

/** File that a URL asks for: of a month for spreadsheets, or of some days for programs. */
export type AskedFile = {
  readonly from: string;
  readonly to: string;
  readonly type: string;
  readonly fileName: string;
} & (
  | {
      readonly format: 'spreadsheet';
      readonly style: {
        readonly timeZone: string;
        readonly separator: ',' | ';';
        readonly decimal: '.' | ',';
        readonly titles: PaymentContext['voice']['words']['payments']['columns'];
      };
    }
  | { readonly format: keyof typeof types }
);

/**
 * Reads from the URL which file is asked for, and names it.
 * @param owner - partner and mode, the first parts of the file name
 * @throws PartnerError `invalid_request` if there is no such format or month
 */
export function fileOf(
  { query, voice, now }: PaymentContext,
  { partner, mode }: { readonly partner: string; readonly mode: string },
): AskedFile {
  const format = query.get('format');
  if (format === 'spreadsheet') {
    const month = query.get('month') ?? '';
    const days = daysOf(month, now);
    if (days === null) throw new PartnerError('invalid_request');
    const timeZone = query.get('zone') ?? 'UTC';
    const { columns: titles } = voice.words.payments;
    return {
      ...{ ...days, format, type: types.csv, fileName: `${partner}-${mode}-${month}.csv` },
      style: { ...signsOf(voice.language), timeZone, titles },
    };
  }
  if (format !== 'csv' && format !== 'ndjson') throw new PartnerError('invalid_request');
  const [from, to] = [query.get('from') ?? '', query.get('to') ?? ''];
  const days = from === to ? from : `${from}-${to}`;
  return { from, to, format, type: types[format], fileName: `${partner}-${mode}-${days}.${format}` };
}

/**
 * Makes the message about a month or time zone for which there is no file for spreadsheets.
 * @throws the error itself if it is another one
 */
export function spreadsheetProblem(error: unknown, { query, voice }: PaymentContext): Html {
  const isWrong = error instanceof PartnerError && error.code === 'invalid_request';
  if (!isWrong || query.get('format') !== 'spreadsheet') throw error;
  return problemRow(voice.words.payments.noMonth);
}
