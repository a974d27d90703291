import { maxRecovered } from '@ostiary/core/console';
import { fillText, type Html, html } from '@ostiary/core/pages';
import { formOf, noProblems, type Problems, problemsOf } from './forms.ts';
import { csrfField } from './frame.ts';
import { counted } from './parts.ts';
import type { Visit } from './visit.ts';

/** Values and problems of the form that redelivers dropped events. */
export interface Recovery {
  readonly since: string;
  readonly problems: Problems;
}

/** State of the form for redeliveries before it was sent. */
export const noRecovery: Recovery = { since: '', problems: noProblems };

/**
 * Makes the form that redelivers the events that were dropped since a given time, with its error messages.
 */
export function recoverForm(visit: Visit, { since, problems }: Recovery) {
  const { id, urlOf, voice } = visit;
  const words = voice.words.recovery;
  const form = formOf({ since: words.since }, problems, words.refused);
  const tag = html`<input type="datetime-local" required value="${since}"`;
  return {
    status: form.status,
    summary: form.summary,
    body: html`<form class="form" method="post" action="${urlOf('endpoint', { id })}">${csrfField(visit)}
${form.field({ name: 'since', tag, hint: words.sinceHint })}
<div class="row"><button class="compact" name="action" value="recover">${words.recover}</button></div></form>`,
  };
}

/**
 * Converts a typed time to the notation of the API. Browsers omit the seconds, and people whose browser has
 * no field for times may type a space instead of the `T`.
 */
function inUtc(typed: string): string {
  const time = typed.replace(' ', 'T').replace(/z$/i, '');
  return `${time}${/T\d\d:\d\d$/.test(time) ? ':00' : ''}Z`;
}

/**
 * Redelivers dropped events. @returns the number of queued deliveries, or the form's values with their
 * problems
 */
export async function recover(
  { api, id, voice }: Visit,
  form: ReadonlyMap<string, string>,
): Promise<number | Recovery> {
  const since = (form.get('since') ?? '').trim();
  try {
    const body = JSON.stringify({ since: inUtc(since) });
    return (await api('recoverWebhook', { path: { id }, body })).queued;
  } catch (error) {
    const problems = problemsOf(voice, error, ['since']);
    // Replaces the API's message, which mentions a notation that this page does not show.
    return {
      since,
      problems: problems.has('since') ? new Map([['since', [voice.words.recovery.badSince]]]) : problems,
    };
  }
}

/** Shows how many events were redelivered, if the URL contains this number. */
export function recovered({ request, voice }: Visit): Html | string | null {
  const words = voice.words.recovery;
  const queued = request.query.get('queued') ?? '';
  if (!/^(0|[1-9][0-9]{0,3})$/.test(queued)) return null;
  if (queued === '0') return words.none;
  return Number(queued) < maxRecovered
    ? fillText(voice.language, words.done, { count: queued })
    : fillText(voice.language, words.more, { count: counted(Number(queued), voice.language) });
}
