import type { FailingEndpoint } from '@ostiary/core/admin';
import { fill, fillText, type Html, html, nameOf } from '@ostiary/core/pages';
import { failureLine } from '../delivery.ts';
import { counted, moment, stateBadge } from '../parts.ts';
import type { OperatorContext } from './visit.ts';

/**
 * Shows a webhook endpoint that fails now, with its last response or error, and a link to its failing
 * deliveries or, if none is waiting, to its dropped ones.
 */
export function failingRow(
  { partner, mode, endpointId, url, count, since, lastAttempt }: FailingEndpoint,
  { urls, voice, words }: OperatorContext,
): Html {
  const text = words.overview;
  const { language } = voice;
  const status = count > 0 ? 'failing' : 'dropped';
  const waits = fillText(language, text.failingWaits, { count: counted(count, language) });
  return html`<li><p class="what"><a href="${urls.webhooks(partner, { mode, endpoint: endpointId, status })}">${nameOf(url)}</a> <span>${partner} · ${words[mode]} · ${fill(language, text.failingSince, { time: moment(since, language) })}</span>
<span>${fill(language, text.lastAnswer, { time: moment(lastAttempt.at, language) })}: ${failureLine(lastAttempt, voice.words)}</span></p>${stateBadge(status, waits)}</li>`;
}
