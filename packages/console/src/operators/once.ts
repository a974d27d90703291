import type { ConsoleAnswer } from '@ostiary/core/console';
import { type Html, html } from '@ostiary/core/pages';
import { noticeOf } from '../frame.ts';
import { secretText } from '../parts.ts';
import { copyButton } from '../snippets.ts';
import { seeOther } from '../visit.ts';
import { type OperatorContext, parameter } from './visit.ts';

/** Secrets that were just created, each with the name of its label in the page texts. */
type NewSecrets = readonly (readonly [
  name: 'key' | 'signingSecret' | 'clientId' | 'clientSecret' | 'portalLink' | 'staffLink',
  secret: string,
])[];

/**
 * Redirects to the page that shows new secrets once. Reloading that page creates no further secrets.
 * @param urlOf - returns the URL of the page, which calls {@link newSecrets}, with a query
 */
export async function showOnce(
  { backend, operator }: OperatorContext,
  secrets: NewSecrets,
  urlOf: (query: { readonly once: string }) => string,
): Promise<ConsoleAnswer> {
  return seeOther(urlOf({ once: await backend.keepOnce(operator, JSON.stringify(secrets)) }));
}

/**
 * Shows new secrets if the URL has a ticket for them. The ticket works once, and only for the operator who
 * created the secrets.
 * @param back - URL of this page without the ticket
 */
export async function newSecrets(visit: OperatorContext, back: string): Promise<Html | null> {
  const { backend, operator, voice, isRead } = visit;
  const { once } = visit.words;
  const ticket = parameter(visit, 'once');
  if (ticket === null || !isRead) return null;
  const kept = await backend.takeOnce(operator, ticket);
  if (kept === null) return noticeOf(once.gone, true);
  const secrets: NewSecrets = JSON.parse(kept);
  const row = ([name, secret]: NewSecrets[number]): Html =>
    html`<div class="field"><h3>${once[name]}</h3><div class="snippet">${secretText(secret)}${copyButton(voice, once[name])}</div></div>`;
  return html`<section class="panel across" aria-labelledby="once"><h2 id="once">${once.title}</h2><p>${once.hint}</p>
${secrets.map(row)}
<p><a href="${back}">${once.back}</a></p></section>`;
}
