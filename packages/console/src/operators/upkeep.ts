import type { ConsoleAnswer } from '@ostiary/core/console';
import { html } from '@ostiary/core/pages';
import { seeOther } from '../visit.ts';
import { asked, type Filled, fieldsOf, wrongField } from './fields.ts';
import { framed } from './frame.ts';
import type { Form, OperatorContext } from './visit.ts';
import { unknownAct } from './visit.ts';

function show(visit: OperatorContext, filled: Filled | null): ConsoleAnswer {
  const { urls, words } = visit;
  const text = words.upkeep;
  const action = urls.upkeep();
  const form = fieldsOf(visit, { sub: text.sub }, filled);
  return framed(visit, {
    title: words.nav.upkeep,
    section: 'upkeep',
    isFirst: true,
    layout: 'one',
    refused: form.summary,
    body: html`<section class="panel" aria-label="${words.nav.upkeep}">
${asked(visit, {
  ...{ action, act: 'end', label: text.end, hint: text.endHint, isOpen: filled !== null, isFinal: true },
  body: form.line('sub', text.subHint),
})}
${asked(visit, { action, act: 'purge', label: text.purge, hint: text.purgeHint, isFinal: true })}
${asked(visit, { action, act: 'reseal', label: text.reseal, hint: text.resealHint })}</section>`,
  });
}

/** Shows the page with rare maintenance actions. */
export const upkeep = async (visit: OperatorContext): Promise<ConsoleAnswer> => show(visit, null);

/** Ends all access to a user, removes old rows, or reseals secrets. */
export async function doUpkeep(visit: OperatorContext, form: Form): Promise<ConsoleAnswer> {
  const { admin, urls, words } = visit;
  switch (form.get('act')) {
    case 'end': {
      // Not trimmed: spaces at the ends belong to the host's ids.
      const sub = form.get('sub') ?? '';
      if (sub === '') return show(visit, wrongField(form, 'sub', words.missing));
      await admin.users.end(sub);
      return seeOther(urls.upkeep({ notice: 'ended' }));
    }
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
