import type { AuditEntry, AuditVerification } from '@ostiary/core/admin';
import type { ConsoleAnswer } from '@ostiary/core/console';
import { fillText, type Html, html, nameOf } from '@ostiary/core/pages';
import { noticeOf, problemRow } from '../frame.ts';
import { counted, facts, foreignText, moment, pageLinks } from '../parts.ts';
import { actForm, type Filled, fieldsOf } from './fields.ts';
import { framed } from './frame.ts';
import { attempt, type Form, listed, type OperatorContext, pageOf, unknownAct } from './visit.ts';

const perPage = 50;

function entryRow(
  { id, at, actor, role, action, target, details }: AuditEntry,
  { urls, voice, words }: OperatorContext,
): Html {
  const told =
    Object.keys(details).length === 0
      ? null
      : html`<details><summary class="small">${fillText(voice.language, words.audit.details, { count: Object.keys(details).length })}</summary>${foreignText(JSON.stringify(details, null, 2), action)}</details>`;
  return html`<li id="${id}"><div class="what"><strong>${nameOf(action)}</strong> <a href="${urls.audit({ target })}">${nameOf(target)}</a>
<span>${nameOf(role === null ? actor : `${actor} (${role})`)} · ${moment(at, voice.language)}</span>${told}</div></li>`;
}

function verified(found: AuditVerification, { voice, words }: OperatorContext): Html {
  const text = words.audit;
  const numbers = facts([
    [text.acts, counted(found.acts, voice.language)],
    [text.before, counted(found.before, voice.language)],
    [text.headNow, html`<code>${found.head}</code>`],
  ]);
  if (found.ok) return html`${noticeOf(text.whole)}${numbers}`;
  const { reason, number, id } = found.problem;
  const place = [number === null ? [] : String(number), id ?? []].flat().join(', ');
  return html`${problemRow(text.broken, [reason, ...(place === '' ? [] : [`${text.place}: ${place}`])])}${numbers}`;
}

async function show(
  visit: OperatorContext,
  { filled = null, checked = null }: { readonly filled?: Filled | null; readonly checked?: Html | null } = {},
): Promise<ConsoleAnswer> {
  const { admin, query, urls, words } = visit;
  const text = words.audit;
  // Not trimmed: spaces at the ends belong to the id of a user.
  const typed = (query.get('target') ?? '').replaceAll('\0', '').slice(0, 300);
  const target = typed === '' ? null : typed;
  const { entries, next } = await listed(() =>
    admin.audit.list({ ...pageOf(visit, perPage), ...(target !== null && { target }) }),
  );
  const empty = html`<p class="muted">${text.empty}</p>`;
  const form = fieldsOf(visit, { target: text.target, head: text.head }, filled);
  return framed(visit, {
    title: words.nav.audit,
    section: 'audit',
    isFirst: true,
    refused: form.summary,
    body: html`<section class="panel" aria-label="${words.nav.audit}">${entries.length === 0 ? empty : html`<ul class="rows">${entries.map((entry) => entryRow(entry, visit))}</ul>`}
${pageLinks([
  [query.has('after') ? urls.audit({ target }) : null, text.newest],
  [next === null ? null : urls.audit({ target, after: next }), text.older],
])}</section>
<div class="column"><section class="panel" aria-label="${text.target}"><form class="form" method="get" action="${urls.audit()}">
${form.line('target', text.targetHint, target ?? '')}
<div class="row"><button class="compact">${text.show}</button></div></form></section>
<section class="panel" aria-labelledby="verify"><h2 id="verify">${text.verify}</h2>${checked}<p class="small muted">${text.verifyHint}</p>${actForm(
      visit,
      {
        action: urls.audit(),
        act: 'verify',
        label: text.verify,
        body: form.line('head', text.headHint),
      },
    )}</section></div>`,
  });
}

/** Shows the page of the audit log, newest entries first. */
export const audit = (visit: OperatorContext): Promise<ConsoleAnswer> => show(visit);

/** Checks the hash chain of the audit log. It reads the whole log, so a link cannot start it. */
export async function verifyAudit(visit: OperatorContext, form: Form): Promise<ConsoleAnswer> {
  if (form.get('act') !== 'verify') return unknownAct();
  const head = (form.get('head') ?? '').trim();
  const result = await attempt(() => visit.admin.audit.verify(head === '' ? {} : { head }));
  if ('done' in result) return show(visit, { checked: verified(result.done, visit) });
  // The error names an argument that is no field of the form: show all messages at `head`.
  const problems = new Map([['head', [...result.problems.values()].flat()]]);
  return show(visit, { filled: { form, problems } });
}
