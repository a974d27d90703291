import type { SigningKeyInfo } from '@ostiary/core/admin';
import type { ConsoleAnswer } from '@ostiary/core/console';
import { type Html, html } from '@ostiary/core/pages';
import { moment, stateBadge } from '../parts.ts';
import { seeOther } from '../visit.ts';
import { asked, type Filled, fieldsOf, wrongField } from './fields.ts';
import { framed } from './frame.ts';
import { historyPanel } from './history.ts';
import { attempt, type Form, integerOf, type OperatorContext, unknownAct } from './visit.ts';

async function show(visit: OperatorContext, filled: Filled | null): Promise<ConsoleAnswer> {
  const { admin, urls, voice, words } = visit;
  const text = words.signingKeys;
  const row = ({ kid, alg, activeFrom, signing }: SigningKeyInfo): Html =>
    html`<li><p class="what"><code>${kid}</code> <span>${alg} · ${text.activeFrom} ${moment(activeFrom, voice.language)}</span></p>${signing ? stateBadge('enabled', text.signs) : stateBadge('pending', text.published)}</li>`;
  const algorithms = [['RS256', 'RS256'] as const, ['ES256', 'ES256'] as const];
  const form = fieldsOf(visit, { alg: text.alg, activateAfterSeconds: text.delay }, filled);
  return framed(visit, {
    title: words.nav.signingKeys,
    section: 'signingKeys',
    isFirst: true,
    layout: 'one',
    refused: form.summary,
    body: html`<section class="panel" aria-label="${words.nav.signingKeys}"><ul class="rows">${(await admin.signingKeys.list()).map(row)}</ul>
${asked(visit, {
  ...{ action: urls.signingKeys(), act: 'rotate', label: text.rotate, hint: text.rotateHint },
  isOpen: filled !== null,
  body: html`${form.select('alg', algorithms, 'RS256')}
${form.line('activateAfterSeconds', text.delayHint, '600')}`,
})}</section>
${await historyPanel(visit, { action: 'signing_key.rotate' })}`,
  });
}

/** Shows the signing keys that relying parties see. */
export const signingKeys = (visit: OperatorContext): Promise<ConsoleAnswer> => show(visit, null);

/** Creates a signing key that replaces the current one after a delay. */
export async function rotateSigningKey(visit: OperatorContext, form: Form): Promise<ConsoleAnswer> {
  const { admin, urls, words } = visit;
  if (form.get('act') !== 'rotate') return unknownAct();
  const activateAfterSeconds = integerOf(form, 'activateAfterSeconds');
  if (activateAfterSeconds === null)
    return show(visit, wrongField(form, 'activateAfterSeconds', words.badNumber));
  const alg = form.get('alg') === 'ES256' ? 'ES256' : 'RS256';
  const result = await attempt(() => admin.signingKeys.rotate({ alg, activateAfterSeconds }));
  if ('problems' in result) return show(visit, { form, ...result });
  return seeOther(urls.signingKeys({ notice: 'rotated' }));
}
