import type { AuditEntry, AuditSearch, AuditVerification } from '@ostiary/core/admin';
import type { ConsoleAnswer } from '@ostiary/core/console';
import { type Html, html, nameOf } from '@ostiary/core/pages';
import { startOfDay } from '../calendar.ts';
import { noticeOf, problemRow } from '../frame.ts';
import { orderField, timeOrders } from '../list-order.ts';
import { counted, facts, filterFold, moment } from '../parts.ts';
import { changesFold, sentenceOf, wordsOfAct } from './acts.ts';
import { actForm, type Filled, fieldsOf } from './fields.ts';
import { framed } from './frame.ts';
import { sortedList } from './sorted-list.ts';
import { attempt, type Form, type OperatorContext, unknownAct } from './visit.ts';

/** Filter of the audit log in the query of the URL. */
type Filter = { readonly [Name in (typeof filterNames)[number]]: string | null };

const filterNames = ['target', 'actor', 'action', 'from', 'to'] as const;

const dayMs = 24 * 3_600_000;

/**
 * Reads the filter of the audit log from the query. Spaces at the ends are kept, because they can belong to
 * ids of users.
 */
function filterOf({ query }: OperatorContext): Filter {
  const typed = filterNames.map((name) => {
    const text = (query.get(name) ?? '').replaceAll('\0', '').slice(0, 300);
    return [name, text === '' ? null : text] as const;
  });
  return Object.fromEntries(typed) as Filter;
}

/** Parses a day in UTC: `null` if the text is empty, `undefined` if it is invalid. */
function dayOf(text: string | null): Date | null | undefined {
  return text === null ? null : (startOfDay(text) ?? undefined);
}

/**
 * Shows an entry of the audit log. Its person, its kind and its object are links to all entries of that
 * person, of that kind, or about that object.
 */
function entryRow(entry: AuditEntry, visit: OperatorContext): Html {
  const { urls, voice } = visit;
  const { id, at, actor, action, target } = entry;
  return html`<li id="${id}"><div class="what">${sentenceOf(entry, visit)}
<span>${moment(at, voice.language)}</span>
<span class="more"><a href="${urls.audit({ actor })}">${nameOf(actor)}</a> · <a href="${urls.audit({ action })}">${nameOf(action)}</a> · <a href="${urls.audit({ target })}">${nameOf(target)}</a></span>${changesFold(entry, visit)}</div></li>`;
}

/** Shows the form that filters the audit log. Every filter is part of the URL. */
function filterForm(visit: OperatorContext, filter: Filter, form: ReturnType<typeof filterFields>): Html {
  const { urls, voice, words } = visit;
  const text = words.audit;
  const names = [...Object.keys(text.did), ...visit.acts.keys()];
  const known = names.map((name) => [name, wordsOfAct(name, visit) ?? name] as const);
  const { action } = filter;
  // A kind of act without words, which the links in the list can select.
  const own = action === null || known.some(([name]) => name === action) ? [] : [[action, action] as const];
  const isNarrowed = filterNames.some((name) => filter[name] !== null);
  const fields = html`<form class="filters" method="get" action="${urls.audit()}">${orderField(visit.query)}
${form.line('actor', text.actorHint, filter.actor ?? '')}
${form.select('action', [['', text.everyAct], ...known, ...own], action ?? '')}
${form.line('target', text.targetHint, filter.target ?? '')}
${form.day('from', filter.from)}
${form.day('to', filter.to)}
<div class="row"><button class="compact">${text.show}</button>${isNarrowed ? html`<a href="${urls.audit()}">${text.everything}</a>` : null}</div></form>`;
  return filterFold(voice, { isNarrowed, form: fields });
}

/**
 * Makes the fields of the two forms of the audit log's page, which filter the entries and check the hash
 * chain. Submitted values that were refused get error messages.
 */
function filterFields(visit: OperatorContext, filled: Filled | null) {
  const text = visit.words.audit;
  const labels = {
    ...{ actor: text.actor, action: text.action, target: text.target, from: text.from, to: text.to },
    head: text.head,
  };
  return fieldsOf(visit, labels, filled);
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
  const { admin, urls, words } = visit;
  const text = words.audit;
  const filter = filterOf(visit);
  const [from, to] = [dayOf(filter.from), dayOf(filter.to)];
  const wrongDays = (['from', 'to'] as const).filter((name) => dayOf(filter[name]) === undefined);
  const problems = new Map(wrongDays.map((name) => [name, [text.badDay]]));
  const { target, actor, action } = filter;
  const search: AuditSearch = {
    ...(target !== null && { target }),
    ...(actor !== null && { actor }),
    ...(action !== null && { action }),
    ...(from && { from }),
    // The last day is listed to its end.
    ...(to && { to: new Date(to.getTime() + dayMs) }),
  };
  const list = await sortedList(visit, {
    read: ({ by: _, ...request }) => admin.audit.sorted({ ...request, ...search }),
    count: await admin.audit.count(search),
    rowOf: (entry) => entryRow(entry, visit),
    urlOf: (query) => urls.audit({ ...filter, ...query }),
    ...{ empty: text.empty, orders: timeOrders },
  });
  const isWrong = wrongDays.length > 0 && filled === null;
  const form = filterFields(visit, isWrong ? { form: new Map(), problems } : filled);
  return framed(visit, {
    title: words.nav.audit,
    section: 'audit',
    isFirst: true,
    refused: form.summary,
    body: html`<section class="panel" aria-label="${words.nav.audit}">${filterForm(visit, filter, form)}
${list}</section>
<section class="panel" aria-labelledby="verify"><h2 id="verify">${text.verify}</h2>${checked}<p class="small muted">${text.verifyHint}</p>${actForm(
      visit,
      {
        action: urls.audit(),
        act: 'verify',
        label: text.verify,
        body: form.line('head', text.headHint),
      },
    )}</section>`,
  });
}

/** Shows the page of the audit log, newest entries first. */
export const audit = (visit: OperatorContext): Promise<ConsoleAnswer> => show(visit);

/**
 * Checks the hash chain of the audit log. Reads the whole log, so only a posted form can start it, not a
 * link.
 */
export async function verifyAudit(visit: OperatorContext, form: Form): Promise<ConsoleAnswer> {
  if (form.get('act') !== 'verify') return unknownAct();
  const head = (form.get('head') ?? '').trim();
  const result = await attempt(() => visit.admin.audit.verify(head === '' ? {} : { head }));
  if ('done' in result) return show(visit, { checked: verified(result.done, visit) });
  // The error names an argument that is no field of the form: show all messages at `head`.
  const problems = new Map([['head', [...result.problems.values()].flat()]]);
  return show(visit, { filled: { form, problems } });
}
