import type { ConsoleAnswer } from '@ostiary/core/console';
import { html, nameOf } from '@ostiary/core/pages';
import { obstacleNotice } from '../obstacles.ts';
import { enabledBadge, facts, moment } from '../parts.ts';
import { seeOther } from '../visit.ts';
import { actForm, asked, type Filled, fieldsOf, formPanel } from './fields.ts';
import { framed } from './frame.ts';
import { historyPanel } from './history.ts';
import { endedKeysNotice } from './keys.ts';
import { newSecrets, showOnce } from './once.ts';
import { makeLink, portalPanel } from './portal.ts';
import { sortedList } from './sorted-list.ts';
import { attempt, type Form, found, modeOf, type OperatorContext, unknownAct } from './visit.ts';

async function show(visit: OperatorContext, filled: Filled | null): Promise<ConsoleAnswer> {
  const { admin, counts, urls, words } = visit;
  const list = await sortedList(visit, {
    read: (request) => admin.partners.sorted(request),
    count: counts.partners,
    rowOf: ({ slug, name, disabledAt }) =>
      html`<li><p class="what"><a href="${urls.partner(slug)}">${nameOf(name)}</a> <span><code>${slug}</code></span></p>${enabledBadge(disabledAt === null, words)}</li>`,
    urlOf: urls.partners,
    empty: words.partners.empty,
  });
  const form = fieldsOf(visit, { slug: words.slug, name: words.name }, filled);
  return framed(visit, {
    title: words.nav.partners,
    section: 'partners',
    isFirst: true,
    refused: form.summary,
    body: html`<section class="panel" aria-label="${words.nav.partners}">${list}</section>
${formPanel(visit, {
  id: 'add',
  label: words.partners.add,
  body: actForm(visit, {
    ...{ action: urls.partners(), act: 'create', label: words.partners.add, primary: true },
    body: html`${form.line('slug', words.partners.slugHint)}
${form.line('name', words.partners.nameHint)}`,
  }),
})}`,
  });
}

/** Shows the list of partners. */
export const partners = (visit: OperatorContext): Promise<ConsoleAnswer> => show(visit, null);

/** Handles the form that creates a partner, and redirects to the page of the partner. */
export async function createPartner(visit: OperatorContext, form: Form): Promise<ConsoleAnswer> {
  const [slug, name] = [form.get('slug') ?? '', form.get('name') ?? ''];
  const result = await attempt(() => visit.admin.partners.create({ slug: slug.trim(), name }));
  if ('problems' in result) return show(visit, { form, ...result });
  return seeOther(visit.urls.partner(result.done.slug, { notice: 'created' }));
}

async function showOne(visit: OperatorContext, filled: Filled | null): Promise<ConsoleAnswer> {
  const { admin, may, slug, urls, voice, words } = visit;
  const { payments } = voice.words;
  const { name, createdAt, disabledAt } = found(await admin.partners.get(slug));
  const obstacles = await admin.webhooks.obstacles({ partner: slug, mode: modeOf(visit) });
  const action = urls.partner(slug);
  const text = words.partners;
  const form = fieldsOf(visit, { name: words.name }, filled);
  return framed(visit, {
    title: name,
    section: 'partners',
    hasModes: true,
    refused: form.summary,
    body: html`${await newSecrets(visit, action)}${obstacleNotice(obstacles, voice)}${disabledAt === null ? await endedKeysNotice(visit) : null}
<section class="panel" aria-label="${words.nav.partners}">${facts([
      [words.slug, html`<code>${slug}</code>`],
      [words.state, enabledBadge(disabledAt === null, words)],
      [words.created, moment(createdAt, voice.language)],
    ])}
<p class="pages"><a href="${urls.keys(slug)}">${words.keys.title}</a><a href="${urls.webhooks(slug)}">${text.webhooks}</a>${may.includes('payments') ? html`<a href="${urls.payments(slug)}">${payments.title}</a>` : null}<a href="${urls.reconciliation(slug)}">${payments.reconciliation}</a></p></section>
${formPanel(visit, {
  label: words.state,
  body: html`${actForm(visit, {
    action,
    act: 'rename',
    label: text.rename,
    body: form.line('name', text.nameHint, name),
  })}
${
  disabledAt === null
    ? asked(visit, { action, act: 'disable', label: text.disable, hint: text.disableHint })
    : asked(visit, { action, act: 'enable', label: text.enable, hint: text.enableHint })
}`,
})}
${await portalPanel(visit, filled)}
${await historyPanel(visit, { target: `partner:${slug}` })}`,
  });
}

/** Shows the page of a partner. */
export const partner = (visit: OperatorContext): Promise<ConsoleAnswer> => showOne(visit, null);

/** Makes a link with which a partner opens its pages for live data. The page after the form shows the link once. */
async function linkToPortal(visit: OperatorContext, form: Form): Promise<ConsoleAnswer> {
  const result = await makeLink(visit, form);
  if ('problems' in result) return showOne(visit, { form, ...result });
  const secrets = [['portalLink', result.done.url] as const];
  return showOnce(visit, secrets, (query) => visit.urls.partner(visit.slug, query));
}

/**
 * Handles the forms on a partner's page, which rename, disable or enable the partner, make a link with which
 * the partner opens its pages for live data, or end such a link or the session that it opened.
 */
export async function changePartner(visit: OperatorContext, form: Form): Promise<ConsoleAnswer> {
  const { admin, slug, urls } = visit;
  if (form.get('act') === 'portal_link') return linkToPortal(visit, form);
  const acts: { readonly [act: string]: readonly [notice: string, () => Promise<unknown>] } = {
    rename: ['saved', () => admin.partners.rename(slug, form.get('name') ?? '')],
    disable: ['disabled', () => admin.partners.disable(slug)],
    enable: ['enabled', () => admin.partners.enable(slug)],
    end_portal: ['portalEnded', () => admin.portal.end(slug, form.get('session') ?? '')],
  };
  const act = form.get('act') ?? '';
  const [notice, call] = (Object.hasOwn(acts, act) ? acts[act] : undefined) ?? unknownAct();
  const result = await attempt(call);
  if ('problems' in result) return showOne(visit, { form, ...result });
  return seeOther(urls.partner(slug, { notice }));
}
