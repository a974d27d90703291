import type { ConsoleAnswer } from '@ostiary/core/console';
import { fillText, html } from '@ostiary/core/pages';
import { queryOf } from './api.ts';
import { answerFramed } from './frame.ts';
import { foreignText } from './parts.ts';
import type { Visit } from './visit.ts';

/**
 * Shows a page with the stored part of an endpoint's response to one delivery attempt: at most 16 KiB in live
 * mode, 1 KiB in test mode.
 */
export async function answer(visit: Visit): Promise<ConsoleAnswer> {
  const { api, id, request, urlOf, voice } = visit;
  const words = voice.words.deliveries;
  const attempt = request.query.get('attempt') ?? '';
  const { eventId, response } = await api('getAttemptAnswer', { path: { id }, query: queryOf({ attempt }) });
  const title = fillText(voice.language, words.answerTo, { number: Number(attempt) });
  const event = `${urlOf('event', { id: eventId })}#${id}`;
  return answerFramed(visit, {
    title,
    layout: 'one',
    body: html`<section class="panel" aria-label="${title}">${foreignText(response, title)}
<p><a href="${event}">${words.title}</a></p></section>`,
  });
}
