import { createRequire } from 'node:module';
import type { WaitingWork } from '@ostiary/core/admin';
import { type ConsoleAnswer, type Html, html } from '@ostiary/core/console';
import { noticeOf, problemRow } from '../frame.ts';
import { counted, facts, moment } from '../parts.ts';
import { framed } from './frame.ts';
import type { OperatorContext } from './visit.ts';

const { version }: { readonly version: string } = createRequire(import.meta.url)(
  '@ostiary/core/package.json',
);

/** Where counting ends. */
const countedAtMost = 10_000;

/** How the service is. */
export async function overview(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { admin, voice, words } = visit;
  const text = words.overview;
  const { at, jobs, deliveries, failingJobs, dropped, sealing } = await admin.health();
  const count = (number: number): string =>
    text.waiting(counted(number, voice.language), number >= countedAtMost);
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
        html`<code>${sealing.keyId}</code><br>${sealing.sealedOtherwise === 0 ? text.sealed : text.sealedOtherwise(count(sealing.sealedOtherwise))}`,
      ],
      [text.storage, text.answers],
      [text.version, version],
      [text.at, moment(at, voice.language)],
    ])}</section>`,
  });
}
