import type { CountsReport, Health } from '@ostiary/core/admin';
import { type Fragment, fillText, type Html, html } from '@ostiary/core/pages';
import { counted, lasting, share } from '../parts.ts';
import { barChart, lineChart } from './charts.ts';
import { modeOf, type OperatorContext, parameter } from './visit.ts';

/** Returns the steps of the period that the query selects: `hour` for 24 hours, `day` for 30 days. */
const periodOf = (visit: OperatorContext): 'hour' | 'day' =>
  parameter(visit, 'period') === '30d' ? 'day' : 'hour';

/** Reads the service's statistics for the period and the mode that the query selects. */
export const readNumbers = (visit: OperatorContext): Promise<CountsReport> =>
  visit.admin.counts({ mode: modeOf(visit), by: periodOf(visit) });

/** Shows a number of the statistics with its chart, and a remark below it. */
function card(id: string, title: string, number: string, remark: Fragment, chart: Html): Html {
  return html`<section class="panel number" aria-labelledby="${id}"><h2 id="${id}">${title}</h2><p><strong>${number}</strong> <span class="small muted">${remark}</span></p>
${chart}</section>`;
}

/** Returns how long the oldest due work has been waiting, in milliseconds; 0 if none waits. */
function oldestWaitMs({ at, jobs, deliveries }: Health): number {
  const oldest = [jobs.oldestDueAt, deliveries.oldestDueAt].flatMap((due) =>
    due === null ? [] : [Date.parse(due)],
  );
  return Math.max(0, ...oldest.map((due) => Date.parse(at) - due));
}

/** Shows the four main numbers of the service, each with its chart. */
function cards(
  { total, periods, by }: CountsReport,
  health: Health,
  { voice, words }: OperatorContext,
): Html {
  const { language } = voice;
  const text = words.numbers;
  const span = by === 'hour' ? text.hours : text.days;
  const { accepted, failed } = total.deliveries;
  const { all, clientErrors, serverErrors } = total.requests;
  const count = (number: number): string => counted(number, language);
  // Rounded up, so that a single error shows.
  const errors = (number: number): string =>
    share(Math.ceil((number / Math.max(1, all)) * 1000) / 1000, language);
  const label = (title: string, number: string, remark: string): string =>
    `${title}, ${span}: ${[number, remark].filter((part) => part !== '').join(' · ')}`;

  const signIns = count(total.signIns);
  const noSignIns = total.signIns === 0 ? text.noSignIns : '';
  const isQuiet = accepted + failed === 0;
  const deliveries = isQuiet ? '—' : share(accepted / (accepted + failed), language);
  const attempts = isQuiet
    ? text.noDeliveries
    : fillText(language, text.failedOf, { failed: count(failed), all: count(accepted + failed) });
  const requests = count(all);
  const shares =
    all === 0
      ? text.noRequests
      : fillText(language, text.errors, { server: errors(serverErrors), client: errors(clientErrors) });
  const wait = lasting(oldestWaitMs(health), language);
  const longest =
    total.longestWaitMs === null
      ? text.noWork
      : fillText(language, text.longest, { time: lasting(total.longestWaitMs, language) });
  return html`<div class="numbers across">
${card(
  'sign-ins',
  text.signIns,
  signIns,
  noSignIns,
  lineChart(
    periods.map((each) => each.signIns),
    label(text.signIns, signIns, noSignIns),
  ),
)}
${card(
  'accepted',
  text.deliveries,
  deliveries,
  attempts,
  barChart(
    periods.map((each) => each.deliveries),
    label(text.deliveries, deliveries, attempts),
  ),
)}
${card(
  'requests',
  text.requests,
  requests,
  shares,
  lineChart(
    periods.map((each) => each.requests.all),
    label(text.requests, requests, shares),
  ),
)}
${card(
  'oldest',
  text.oldest,
  wait,
  longest,
  lineChart(
    periods.map((each) => each.longestWaitMs ?? 0),
    label(text.oldest, wait, longest),
  ),
)}
</div>`;
}

/** Formats the beginning of an hour or a day in UTC. */
function startOf(at: string, by: 'hour' | 'day', language: string): Html {
  const hour = by === 'hour' ? ({ hour: '2-digit', minute: '2-digit' } as const) : {};
  const locales = [language === 'en' ? 'en-GB' : language, 'fr'];
  const words = new Date(at).toLocaleString(locales, {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
    ...hour,
  });
  return html`<time datetime="${at}">${words}</time>`;
}

/** Shows the statistics of every hour or day as a table, newest first. */
function table({ periods, by }: CountsReport, { voice, words }: OperatorContext): Html {
  const { language } = voice;
  const text = words.numbers;
  const names = [
    ...[text.time, text.signIns, text.accepted, text.failed],
    ...[text.requests, text.clientErrors, text.serverErrors, text.longestWait],
  ];
  const row = ({
    at,
    signIns,
    deliveries,
    requests,
    longestWaitMs,
  }: CountsReport['periods'][number]): Html => {
    const numbers = [
      ...[signIns, deliveries.accepted, deliveries.failed],
      ...[requests.all, requests.clientErrors, requests.serverErrors],
    ].map((number) => counted(number, language));
    const wait = longestWaitMs === null ? '—' : lasting(longestWaitMs, language);
    return html`<tr><th scope="row">${startOf(at, by, language)}</th>${[...numbers, wait].map((number) => html`<td>${number}</td>`)}</tr>`;
  };
  return html`<details class="across"><summary class="small">${text.table}</summary>
<div class="wide" role="region" aria-label="${text.table}" tabindex="0"><table><thead><tr>${names.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${periods.toReversed().map(row)}</tbody></table></div></details>`;
}

/** Shows the statistics of the last 24 hours or 30 days, with links that choose the period. */
export function numbers(report: CountsReport, health: Health, visit: OperatorContext): Html {
  const { urls, words } = visit;
  const text = words.numbers;
  const mode = report.mode === 'test' ? 'test' : null;
  const link = (by: 'hour' | 'day', href: string, label: string): Html =>
    by === report.by
      ? html`<a href="${href}" aria-current="true">${label}</a>`
      : html`<a href="${href}">${label}</a>`;
  return html`<nav class="periods across" aria-label="${text.period}">${link('hour', urls.overview({ mode }), text.hours)}${link('day', urls.overview({ mode, period: '30d' }), text.days)}</nav>
${cards(report, health, visit)}
${table(report, visit)}`;
}
