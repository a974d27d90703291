import type { ConsoleAnswer } from '@ostiary/core/console';
import { html } from '@ostiary/core/pages';
import { secretText } from '../parts.ts';
import { framed, type OperatorFrame } from './frame.ts';
import type { OperatorContext } from './visit.ts';

/**
 * Makes the page with a new secret. It is the response to the action that created the secret and has no URL,
 * so the secret is shown only once.
 */
export function shownOnce(
  visit: OperatorContext,
  {
    title,
    section,
    secrets,
    back,
  }: Pick<OperatorFrame, 'title' | 'section'> & {
    readonly secrets: readonly (readonly [name: string, secret: string])[];
    readonly back: string;
  },
): ConsoleAnswer {
  const { once } = visit.words;
  return framed(visit, {
    title,
    section,
    layout: 'one',
    body: html`<section class="panel" aria-labelledby="once"><h2 id="once">${once.title}</h2><p>${once.hint}</p>
${secrets.map(([name, secret]) => html`<div class="field"><h3>${name}</h3>${secretText(secret)}</div>`)}
<p><a href="${back}">${once.back}</a></p></section>`,
  });
}
