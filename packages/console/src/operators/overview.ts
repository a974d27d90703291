import type { AuditEntry, DroppedEndpoint, FailingEndpoint, Health, WaitingWork } from '@ostiary/core/admin';
import { type ConsoleAnswer, countedAtMost, version } from '@ostiary/core/console';
import { fillText, type Html, html, nameOf } from '@ostiary/core/pages';
import { noticeOf, problemRow } from '../frame.ts';
import { counted, facts, moment, stateBadge } from '../parts.ts';
import { sentenceOf, timeOfAct } from './acts.ts';
import { failingRow } from './failing.ts';
import { framed } from './frame.ts';
import { numbers, readNumbers } from './numbers.ts';
import type { OperatorContext } from './visit.ts';

/** Maximum number of changes on the overview page. The audit log has the others. */
const changesAtMost = 8;

/** Formats a number from `admin.health()` for the overview page. */
const countOf = ({ voice, words }: OperatorContext, number: number): string =>
  fillText(voice.language, words.overview.waiting, {
    count: counted(number, voice.language),
    upTo: number >= countedAtMost,
  });

const sealedOtherwise = (visit: OperatorContext, count: number): string =>
  fillText(visit.voice.language, visit.words.overview.sealedOtherwise, { count: countOf(visit, count) });

/**
 * Lists webhook endpoints that fail now, with their last response or error, and links to the list of all
 * failing endpoints.
 */
function failing(visit: OperatorContext, endpoints: readonly FailingEndpoint[]): Html {
  const { urls, words } = visit;
  const text = words.overview;
  return html`<section class="panel" aria-labelledby="failing"><div class="head"><h2 id="failing">${text.failing}</h2><a href="${urls.failing()}">${words.nav.failing}</a></div><p class="small muted">${text.failingHint}</p><ul class="rows">${endpoints.map((endpoint) => failingRow(endpoint, visit))}</ul></section>`;
}

/**
 * Lists endpoints of all partners with dropped deliveries. Each endpoint is a link to its dropped deliveries.
 */
function dropping({ urls, voice, words }: OperatorContext, endpoints: readonly DroppedEndpoint[]): Html {
  const row = ({ partner, mode, endpointId, url, count }: DroppedEndpoint): Html =>
    html`<li><p class="what"><a href="${urls.webhooks(partner, { mode, endpoint: endpointId, status: 'dropped' })}">${nameOf(url)}</a> <span>${partner} · ${words[mode]}</span></p>${stateBadge('dropped', counted(count, voice.language))}</li>`;
  return html`<section class="panel" aria-labelledby="dropped"><h2 id="dropped">${words.overview.dropped}</h2><ul class="rows">${endpoints.map(row)}</ul></section>`;
}

/** Shows the latest changes by administrators. */
function latestChanges(visit: OperatorContext, entries: readonly AuditEntry[]): Html {
  const { urls, words } = visit;
  const text = words.overview;
  const row = (entry: AuditEntry): Html =>
    html`<li><p class="what">${sentenceOf(entry, visit)}</p><span class="small muted">${timeOfAct(entry, visit)}</span></li>`;
  return html`<section class="panel" aria-labelledby="changes"><div class="head"><h2 id="changes">${text.changes}</h2><a href="${urls.audit()}">${words.nav.audit}</a></div>
${entries.length === 0 ? html`<p class="muted">${text.noChanges}</p>` : html`<ul class="rows">${entries.map(row)}</ul>`}</section>`;
}

/** Shows the jobs and deliveries that wait or failed, and the id of the first sealing key. */
function stateOf(visit: OperatorContext, health: Health): Html {
  const { voice, words } = visit;
  const text = words.overview;
  const { at, jobs, deliveries, failingJobs, dropped, sealing } = health;
  const waiting = ({ count: number, oldestDueAt, late }: WaitingWork): Html =>
    html`${number === 0 ? text.nothingWaits : countOf(visit, number)}${oldestDueAt === null ? null : html`<br>${text.since} ${moment(oldestDueAt, voice.language)}`}${late ? html`<br><strong>${text.late}</strong>` : null}`;
  return html`<section class="panel" aria-label="${words.nav.overview}">${facts([
    [text.jobs, waiting(jobs)],
    [text.deliveries, waiting(deliveries)],
    [text.failingJobs, countOf(visit, failingJobs)],
    [text.failing, countOf(visit, health.failing)],
    [text.dropped, countOf(visit, dropped)],
    [
      text.sealing,
      html`<code>${sealing.keyId}</code><br>${sealing.sealedOtherwise === 0 ? text.sealed : sealedOtherwise(visit, sealing.sealedOtherwise)}`,
    ],
    [text.storage, text.answers],
    [text.version, version],
    [text.at, moment(at, voice.language)],
  ])}</section>`;
}

/** Lists in words the problems that an operator should solve. Empty if there are none. */
function needsOf(visit: OperatorContext, health: Health): readonly (Html | string)[] {
  const text = visit.words.overview;
  const { jobs, deliveries, failingJobs, dropped, failingEndpoints, droppedEndpoints, sealing } = health;
  const numbered = (words: string, count: number): string => `${words}: ${countOf(visit, count)}`;
  const needs: readonly (readonly [isNeeded: boolean, words: Html | string])[] = [
    [jobs.late || deliveries.late, text.late],
    [failingEndpoints.length > 0, html`<a href="#failing">${numbered(text.failing, health.failing)}</a>`],
    [droppedEndpoints.length > 0, html`<a href="#dropped">${numbered(text.dropped, dropped)}</a>`],
    [failingJobs > 0, numbered(text.failingJobs, failingJobs)],
    [sealing.sealedOtherwise > 0, sealedOtherwise(visit, sealing.sealedOtherwise)],
  ];
  return needs.filter(([isNeeded]) => isNeeded).map(([, words]) => words);
}

/** Shows the overview page: what fails now, what the service did, and what administrators changed. */
export async function overview(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { acts, admin, words } = visit;
  const text = words.overview;
  const except = [...acts].flatMap(([action, { isChange }]) => (isChange === false ? [action] : []));
  const [health, report, { rows: entries }] = await Promise.all([
    admin.health(),
    readNumbers(visit),
    admin.audit.sorted({ limit: changesAtMost, except }),
  ]);
  const { failingEndpoints, droppedEndpoints } = health;
  const needs = needsOf(visit, health);
  return framed(visit, {
    title: words.nav.overview,
    section: 'overview',
    isFirst: true,
    hasModes: true,
    layout: 'halves',
    body: html`${needs.length === 0 ? noticeOf(text.healthy) : problemRow(text.unhealthy, needs)}
${numbers(report, health, visit)}
<div class="column">${failingEndpoints.length === 0 ? null : failing(visit, failingEndpoints)}
${droppedEndpoints.length === 0 ? null : dropping(visit, droppedEndpoints)}
${stateOf(visit, health)}</div>
${latestChanges(visit, entries)}`,
  });
}
