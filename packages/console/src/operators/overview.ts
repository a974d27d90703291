import type { FailingEndpoint, WaitingWork } from '@ostiary/core/admin';
import { type ConsoleAnswer, version } from '@ostiary/core/console';
import { fillText, type Html, html, nameOf } from '@ostiary/core/pages';
import { noticeOf, problemRow } from '../frame.ts';
import { counted, facts, moment, stateBadge } from '../parts.ts';
import { framed } from './frame.ts';
import type { OperatorContext } from './visit.ts';

/** Number at which `admin.health()` stops counting: it means that many or more. */
const countedAtMost = 10_000;

/**
 * Lists endpoints of all partners with failed deliveries. Each links to its dropped deliveries.
 */
function failing({ urls, voice, words }: OperatorContext, endpoints: readonly FailingEndpoint[]): Html {
  const row = ({ partner, mode, endpointId, url, count }: FailingEndpoint): Html =>
    html`<li><p class="what"><a href="${urls.webhooks(partner, { mode, endpoint: endpointId })}">${nameOf(url)}</a> <span>${partner} · ${words[mode]}</span></p>${stateBadge('dropped', counted(count, voice.language))}</li>`;
  return html`<section class="panel" aria-labelledby="failing"><h2 id="failing">${words.overview.dropped}</h2><ul class="rows">${endpoints.map(row)}</ul></section>`;
}

/** Shows the page with the state of the service. */
export async function overview(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { admin, voice, words } = visit;
  const text = words.overview;
  const { at, jobs, deliveries, failingJobs, dropped, failingEndpoints, sealing } = await admin.health();
  const count = (number: number): string =>
    fillText(voice.language, text.waiting, {
      count: counted(number, voice.language),
      upTo: number >= countedAtMost,
    });
  const waiting = ({ count: number, oldestDueAt, late }: WaitingWork): Html =>
    html`${number === 0 ? text.nothingWaits : count(number)}${oldestDueAt === null ? null : html`<br>${text.since} ${moment(oldestDueAt, voice.language)}`}${late ? html`<br><strong>${text.late}</strong>` : null}`;
  const isWell = !jobs.late && !deliveries.late && failingJobs + dropped + sealing.sealedOtherwise === 0;
  return framed(visit, {
    title: words.nav.overview,
    section: 'overview',
    isFirst: true,
    layout: 'one',
    body: html`${isWell ? noticeOf(text.healthy) : problemRow(text.unhealthy)}
<section class="panel" aria-label="${words.nav.overview}">${facts([
      [text.jobs, waiting(jobs)],
      [text.deliveries, waiting(deliveries)],
      [text.failingJobs, count(failingJobs)],
      [text.dropped, count(dropped)],
      [
        text.sealing,
        html`<code>${sealing.keyId}</code><br>${sealing.sealedOtherwise === 0 ? text.sealed : fillText(voice.language, text.sealedOtherwise, { count: count(sealing.sealedOtherwise) })}`,
      ],
      [text.storage, text.answers],
      [text.version, version],
      [text.at, moment(at, voice.language)],
    ])}</section>
${failingEndpoints.length === 0 ? null : failing(visit, failingEndpoints)}`,
  });
}
