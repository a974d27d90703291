import type { SigningKeyInfo } from '@ostiary/core/admin';
import { type ConsoleAnswer, type Html, html } from '@ostiary/core/console';
import { choice, moment, stateBadge } from '../parts.ts';
import { seeOther } from '../visit.ts';
import { asked, type Filled, textField } from './fields.ts';
import { framed } from './frame.ts';
import { refusedField } from './keys.ts';
import { attempt, type Form, integerOf, type OperatorContext, unknownAct } from './visit.ts';

async function show(visit: OperatorContext, filled: Filled | null): Promise<ConsoleAnswer> {
  const { admin, urls, voice, words } = visit;
  const text = words.signingKeys;
  const row = ({ kid, alg, activeFrom, signing }: SigningKeyInfo): Html =>
    html`<li><p class="what"><code>${kid}</code> <span>${alg} · ${text.activeFrom} ${moment(activeFrom, voice.language)}</span></p>${signing ? stateBadge('enabled', text.signs) : stateBadge('pending', text.published)}</li>`;
  const algorithms = [['RS256', 'RS256'] as const, ['ES256', 'ES256'] as const];
  const delay = { name: 'activateAfterSeconds', label: text.delay, hint: text.delayHint, value: '600' };
  return framed(visit, {
    title: words.nav.signingKeys,
    section: 'signingKeys',
    isFirst: true,
    layout: 'one',
    refusal: filled?.refusal ?? null,
    body: html`<section class="panel" aria-label="${words.nav.signingKeys}"><ul class="rows">${(await admin.signingKeys.list()).map(row)}</ul>
${asked(visit, {
  ...{ action: urls.signingKeys(), act: 'rotate', label: text.rotate, hint: text.rotateHint },
  isOpen: filled !== null,
  body: html`<div class="field"><label for="alg">${text.alg}</label>${choice({ id: 'alg', name: 'alg', options: algorithms, chosen: filled?.form.get('alg') ?? 'RS256' })}</div>
${textField(delay, filled)}`,
})}</section>`,
  });
}

/** The keys that relying parties see. */
export const signingKeys = (visit: OperatorContext): Promise<ConsoleAnswer> => show(visit, null);

/** Makes a key that takes over. */
export async function rotateSigningKey(visit: OperatorContext, form: Form): Promise<ConsoleAnswer> {
  const { admin, urls, words } = visit;
  if (form.get('act') !== 'rotate') return unknownAct();
  const activateAfterSeconds = integerOf(form, 'activateAfterSeconds');
  if (activateAfterSeconds === null)
    return show(visit, { form, refusal: refusedField('activateAfterSeconds', words.badNumber) });
  const alg = form.get('alg') === 'ES256' ? 'ES256' : 'RS256';
  const result = await attempt(() => admin.signingKeys.rotate({ alg, activateAfterSeconds }));
  if ('refusal' in result) return show(visit, { form, ...result });
  return seeOther(urls.signingKeys({ notice: 'rotated' }));
}
