import type { ConsoleAnswer } from '@ostiary/core/console';
import { html } from '@ostiary/core/pages';
import { seeOther } from '../visit.ts';
import { asked } from './fields.ts';
import { framed } from './frame.ts';
import type { Form, OperatorContext } from './visit.ts';
import { unknownAct } from './visit.ts';

/** Shows the page with maintenance actions that are rarely needed. */
export async function upkeep(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { urls, words } = visit;
  const text = words.upkeep;
  const action = urls.upkeep();
  return framed(visit, {
    title: words.nav.upkeep,
    section: 'upkeep',
    isFirst: true,
    layout: 'one',
    body: html`<section class="panel" aria-label="${words.nav.upkeep}">
${asked(visit, { action, act: 'purge', label: text.purge, hint: text.purgeHint, isFinal: true })}
${asked(visit, { action, act: 'reseal', label: text.reseal, hint: text.resealHint })}</section>`,
  });
}

/**
 * Handles the forms of the page with maintenance actions, which remove rows that are no longer needed, or
 * encrypt all secrets with the first sealing key.
 */
export async function doUpkeep(visit: OperatorContext, form: Form): Promise<ConsoleAnswer> {
  const { admin, urls } = visit;
  switch (form.get('act')) {
    case 'purge':
      await admin.purge();
      return seeOther(urls.upkeep({ notice: 'purged' }));
    case 'reseal': {
      const { unopened } = await admin.reseal();
      return seeOther(urls.upkeep({ notice: unopened === 0 ? 'resealed' : 'unopened' }));
    }
    default:
      return unknownAct();
  }
}
