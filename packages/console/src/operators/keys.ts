import { type ApiKey, type AuditEntry, type IssuedApiKey, keyScopes } from '@ostiary/core/admin';
import { type ConsoleAnswer, PartnerError } from '@ostiary/core/console';
import { type Html, html, nameOf } from '@ostiary/core/pages';
import { noticeOf } from '../frame.ts';
import { facts, moment, pageLinks, stateBadge } from '../parts.ts';
import { perPage } from '../two-way.ts';
import { seeOther } from '../visit.ts';
import { actForm, asked, type Filled, fieldsOf, formPanel, ticked, wrongField } from './fields.ts';
import { framed } from './frame.ts';
import { historyPanel } from './history.ts';
import { newSecrets, showOnce } from './once.ts';
import { sortedList } from './sorted-list.ts';
import {
  attempt,
  type Form,
  found,
  integerOf,
  linesOf,
  modeOf,
  type OperatorContext,
  parameter,
  timeOf,
  unknownAct,
} from './visit.ts';

/** Checks whether the expiry time of an API key has passed. */
const isExpired = ({ expiresAt }: ApiKey, { backend }: OperatorContext): boolean =>
  expiresAt !== null && Date.parse(expiresAt) <= backend.now();

/**
 * Warns that a partner has API keys of the page's mode, and that all of them are revoked or expired. Returns `null` if one
 * of them works, or if there are none.
 */
export async function endedKeysNotice(visit: OperatorContext): Promise<Html | null> {
  const { admin, slug, words } = visit;
  const mode = modeOf(visit);
  const keys = (await admin.apiKeys.list(slug)).filter((key) => key.mode === mode);
  const works = keys.some((key) => key.revokedAt === null && !isExpired(key, visit));
  return keys.length === 0 || works ? null : noticeOf(words.keys.noneWorks[mode], true);
}

function stateOf(key: ApiKey, visit: OperatorContext): Html {
  const { words } = visit;
  if (key.revokedAt !== null) return stateBadge('disabled', words.keys.revoked);
  if (isExpired(key, visit)) return stateBadge('disabled', words.keys.ended);
  return stateBadge('enabled', words.keys.works);
}

function keyRow(key: ApiKey, visit: OperatorContext): Html {
  const { urls, voice, words } = visit;
  const { id, partner, mode, name, start, scopes, lastUsedAt } = key;
  const used = lastUsedAt === null ? words.never : moment(lastUsedAt, voice.language);
  return html`<li><p class="what"><a href="${urls.key(partner, id)}">${name === '' ? html`<code>${id}</code>` : nameOf(name)}</a> <span><code>${start}…</code> · ${partner} · ${words[mode]} · ${scopes.join(', ')}</span> <span>${words.keys.lastUsed}: ${used}</span></p>${stateOf(key, visit)}</li>`;
}

/** Shows the API keys of all partners. */
export async function allKeys(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { admin, urls, words } = visit;
  const list = await sortedList(visit, {
    read: (request) => admin.apiKeys.sorted(request),
    count: await admin.apiKeys.count(),
    rowOf: (key) => keyRow(key, visit),
    urlOf: urls.allKeys,
    empty: words.keys.empty,
  });
  return framed(visit, {
    title: words.keys.title,
    section: 'allKeys',
    isFirst: true,
    layout: 'one',
    body: html`<section class="panel" aria-label="${words.keys.title}">${list}</section>`,
  });
}

/** Makes the form for a new API key, with its error messages. */
function issueForm(visit: OperatorContext, filled: Filled | null) {
  const { slug, urls, words } = visit;
  const text = words.keys;
  const form = fieldsOf(
    visit,
    {
      ...{ mode: words.mode, name: words.name, scopes: text.scopes, allowlist: text.allowlist },
      ...{ expiresAt: text.expires, requireSignature: text.requireSignature },
    },
    filled,
  );
  const modes = [
    ['test', words.test],
    ['live', words.live],
  ] as const;
  const body = actForm(visit, {
    action: urls.keys(slug),
    act: 'issue',
    label: text.add,
    primary: true,
    body: html`${form.select('mode', modes, 'test')}
${form.line('name', text.nameHint)}
${form.ticks('scopes', 'scope', keyScopes)}
${form.lines('allowlist', text.allowlistHint)}
${form.line('expiresAt', text.expiresHint)}
${form.tick('requireSignature')}`,
  });
  return { body, summary: form.summary };
}

async function show(visit: OperatorContext, filled: Filled | null): Promise<ConsoleAnswer> {
  const { admin, slug, urls, words } = visit;
  const partner = found(await admin.partners.get(slug));
  const all = await admin.apiKeys.list(slug);
  const after = parameter(visit, 'after');
  const from = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
  const list = all.slice(from, from + perPage);
  const last = from + perPage < all.length ? list.at(-1) : undefined;
  const previous = from > perPage ? (all[from - perPage - 1]?.id ?? null) : null;
  const form = issueForm(visit, filled);
  return framed(visit, {
    title: words.keys.title,
    section: 'partners',
    crumbs: [[urls.partner(slug), partner.name]],
    refused: form.summary,
    body: html`<section class="panel" aria-label="${words.keys.title}">${list.length === 0 ? html`<p class="muted">${words.keys.empty}</p>` : html`<ul class="rows">${list.map((key) => keyRow(key, visit))}</ul>`}
${pageLinks([
  [from > 0 ? urls.keys(slug, { after: previous }) : null, visit.voice.words.lists.previous],
  [last === undefined ? null : urls.keys(slug, { after: last.id }), visit.voice.words.lists.next],
])}</section>
${formPanel(visit, { id: 'issue', label: words.keys.add, body: form.body })}`,
  });
}

/** Shows the API keys of a partner, newest first. */
export const keys = (visit: OperatorContext): Promise<ConsoleAnswer> => show(visit, null);

function issued(
  visit: OperatorContext,
  { apiKey, key, signingSecret }: IssuedApiKey,
): Promise<ConsoleAnswer> {
  const secrets = [['key', key] as const, ['signingSecret', signingSecret] as const];
  return showOnce(visit, secrets, (query) => visit.urls.key(visit.slug, apiKey.id, query));
}

/** Issues an API key that an operator requested. */
export async function issueKey(visit: OperatorContext, form: Form): Promise<ConsoleAnswer> {
  const { admin, slug, words } = visit;
  found(await admin.partners.get(slug));
  const expiresAt = timeOf(form, 'expiresAt');
  if (expiresAt === undefined) return show(visit, wrongField(form, 'expiresAt', words.badTime));
  const allowlist = linesOf(form, 'allowlist');
  const result = await attempt(() =>
    admin.apiKeys.issue({
      partner: slug,
      mode: form.get('mode') === 'live' ? 'live' : 'test',
      name: form.get('name') ?? '',
      scopes: ticked(form, 'scope', keyScopes),
      requireSignature: form.has('requireSignature'),
      ...(allowlist.length > 0 && { allowlist }),
      ...(expiresAt !== null && { expiresAt }),
    }),
  );
  if ('problems' in result) return show(visit, { form, ...result });
  return issued(visit, result.done);
}

/** Returns the API key that the URL names. @throws PartnerError `not_found` if the partner has no such key */
async function keyOf({ admin, slug, id }: OperatorContext): Promise<ApiKey> {
  const key = (await admin.apiKeys.list(slug)).find((one) => one.id === id);
  if (key === undefined) throw new PartnerError('not_found');
  return key;
}

/**
 * Longest time between the creation of an API key and the audit log entry about it, in milliseconds. A later
 * entry is not found.
 */
const recordedWithinMs = 5_000;

/**
 * Finds the audit log entry about the replacement through which this API key was created. Empty for a key
 * that replaced none.
 */
async function originOf(
  { id, createdAt }: ApiKey,
  { admin }: OperatorContext,
): Promise<readonly AuditEntry[]> {
  const from = new Date(createdAt);
  const to = new Date(from.getTime() + recordedWithinMs);
  const { entries } = await admin.audit.list({ action: 'key.roll', from, to });
  return entries.filter(({ details }) => details.successor === id);
}

async function showOne(visit: OperatorContext, filled: Filled | null): Promise<ConsoleAnswer> {
  const { backend, slug, id, urls, voice, words } = visit;
  const key = await keyOf(visit);
  const { mode, name, scopes, allowlist, requireSignature, createdAt, expiresAt, revokedAt, lastUsedAt } =
    key;
  const text = words.keys;
  const time = (at: string | null) => (at === null ? words.never : moment(at, voice.language));
  const works = revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > backend.now());
  const action = urls.key(slug, id);
  const form = fieldsOf(visit, { overlapSeconds: text.overlap }, filled);
  return framed(visit, {
    title: name === '' ? id : name,
    section: 'partners',
    crumbs: [
      [urls.partner(slug), slug],
      [urls.keys(slug), text.title],
    ],
    refused: form.summary,
    body: html`${await newSecrets(visit, action)}
<section class="panel" aria-label="${text.title}">${facts([
      ['ID', html`<code>${id}</code>`],
      [text.start, html`<code>${key.start}…</code>`],
      [voice.words.search.kinds.partner, html`<a href="${urls.keys(slug)}">${slug}</a>`],
      [words.state, stateOf(key, visit)],
      [words.mode, words[mode]],
      [text.scopes, scopes.join(', ')],
      [text.allowlist, allowlist === null ? '*' : nameOf(allowlist.join(', '))],
      requireSignature ? [text.requireSignature, '✓'] : null,
      [words.created, time(createdAt)],
      [text.expires, time(expiresAt)],
      [text.lastUsed, time(lastUsedAt)],
      revokedAt === null ? null : [text.revoked, time(revokedAt)],
    ])}</section>
${formPanel(visit, {
  label: words.state,
  body: works
    ? html`${asked(visit, { action, act: 'roll', label: text.roll, hint: text.rollHint, isOpen: filled !== null, body: form.line('overlapSeconds', text.overlapHint, '86400') })}
${asked(visit, { action, act: 'revoke', label: text.revoke, hint: text.revokeHint, isFinal: true })}`
    : html`<p class="muted">${text.ended}</p>`,
})}
${await historyPanel(visit, { target: `key:${id}` }, await originOf(key, visit))}`,
  });
}

/** Shows the page of an API key. A key that was just issued is shown once, with the ticket in the URL. */
export const key = (visit: OperatorContext): Promise<ConsoleAnswer> => showOne(visit, null);

/** Handles the forms on the page of an API key, which roll (replace) or revoke the key. */
export async function changeKey(visit: OperatorContext, form: Form): Promise<ConsoleAnswer> {
  const { admin, slug, id, urls, words } = visit;
  await keyOf(visit);
  switch (form.get('act')) {
    case 'revoke': {
      const result = await attempt(() => admin.apiKeys.revoke(id));
      if ('problems' in result) return showOne(visit, { form, ...result });
      return seeOther(urls.key(slug, id, { notice: 'revoked' }));
    }
    case 'roll': {
      const overlapSeconds = integerOf(form, 'overlapSeconds');
      if (overlapSeconds === null) return showOne(visit, wrongField(form, 'overlapSeconds', words.badNumber));
      const result = await attempt(() => admin.apiKeys.roll(id, { overlapSeconds }));
      if ('problems' in result) return showOne(visit, { form, ...result });
      return issued(visit, result.done);
    }
    default:
      return unknownAct();
  }
}
