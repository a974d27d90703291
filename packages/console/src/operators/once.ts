import type { ConsoleAnswer } from '@ostiary/core/console';
import { html } from '@ostiary/core/pages';
import { secretText } from '../parts.ts';
import { framed, type OperatorFrame } from './frame.ts';
import type { OperatorContext } from './visit.ts';

/**
 * Page of a new secret, which is shown only now. It is the response to the action that made it, and has no
 * URL.
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
