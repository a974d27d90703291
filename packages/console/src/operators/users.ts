import type { ConsentOfUser } from '@ostiary/core/admin';
import type { ConsoleAnswer, KycState } from '@ostiary/core/console';
import { fillText, type Html, html, nameOf } from '@ostiary/core/pages';
import { choiceField, facts, moment, pageLinks, stateBadge } from '../parts.ts';
import { editedValue, shownField } from '../shown-values.ts';
import { perPage } from '../two-way.ts';
import { seeOther } from '../visit.ts';
import { actForm, asked, formPanel } from './fields.ts';
import { framed } from './frame.ts';
import { historyPanel } from './history.ts';
import type { OperatorUser } from './host-users.ts';
import { type Form, found, type OperatorContext, pageOf, parameter, unknownAct } from './visit.ts';

const statuses = ['approved', 'pending', 'rejected'] as const;
const tiers = [0, 1, 2, 3] as const;

const kycBadges = { approved: 'delivered', pending: 'pending', rejected: 'dropped' } as const;

const time = (at: Date, { voice }: OperatorContext): Html => moment(at.toISOString(), voice.language);

function kycText({ kycStatus, kycTier }: KycState, { voice }: OperatorContext): string {
  const { kyc } = voice.words.tools;
  return `${kyc.states[kycStatus]} · ${fillText(voice.language, kyc.tier, { tier: kycTier })}`;
}

function stateOf({ blockedAt }: OperatorUser, { words }: OperatorContext): Html {
  return blockedAt === null || blockedAt === undefined
    ? stateBadge('enabled', words.users.active)
    : stateBadge('disabled', words.users.blocked);
}

function userRow(user: OperatorUser, visit: OperatorContext): Html {
  const { urls } = visit;
  const { sub, name, handle, phone, email, kyc } = user;
  const about = [handle === undefined ? [] : `@${handle}`, phone ?? [], email ?? []].flat().join(' · ');
  const check =
    kyc === undefined ? null : html` ${stateBadge(kycBadges[kyc.kycStatus], kycText(kyc, visit))}`;
  return html`<li><p class="what"><a href="${urls.user(sub)}">${nameOf(name)}</a> <span>${nameOf(about)}</span></p><div class="states">${stateOf(user, visit)}${check}</div></li>`;
}

/** Makes the form that opens the page of a user by id, for hosts whose users cannot be searched. */
function idForm({ urls, words }: OperatorContext): Html {
  const text = words.users;
  return html`<section class="panel" aria-label="${text.sub}"><form class="form" method="get" action="${urls.user('')}">
<div class="field"><label for="sub">${text.sub}</label><p class="small muted" id="sub-hint">${text.subHint}</p><input id="sub" name="sub" required maxlength="255" aria-describedby="sub-hint" autocomplete="off" spellcheck="false" autocapitalize="none"></div>
<div class="row"><button class="compact">${words.audit.show}</button></div></form></section>`;
}

/**
 * Shows the users that match a search. If the host application's users cannot be searched, shows the form
 * that opens a user by id.
 */
export async function users(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { query, urls, words } = visit;
  const text = words.users;
  const page = { title: words.nav.users, section: 'users', isFirst: true, layout: 'one' } as const;
  if (visit.users === null) return framed(visit, { ...page, body: idForm(visit) });
  const searched = parameter(visit, 'q') ?? '';
  const { after = null } = pageOf(visit, perPage);
  const list = await visit.users.search({ text: searched, after, limit: perPage });
  const rows = list.users.map((user) => userRow(user, visit));
  return framed(visit, {
    ...page,
    body: html`<section class="panel" aria-label="${words.nav.users}"><form class="form" method="get" action="${urls.users()}" role="search">
<div class="field"><label for="q">${text.search}</label><p class="small muted" id="q-hint">${text.searchHint}</p><input id="q" name="q" type="search" value="${searched}" aria-describedby="q-hint" autocomplete="off" spellcheck="false" autocapitalize="none"></div>
<div class="row"><button class="compact">${text.find}</button></div></form>
${rows.length === 0 ? html`<p class="muted">${text.empty}</p>` : html`<ul class="rows">${rows}</ul>`}
${pageLinks([
  [query.has('after') ? urls.users({ q: searched }) : null, words.first],
  [list.next === null ? null : urls.users({ q: searched, after: list.next }), words.next],
])}</section>`,
  });
}

/**
 * Returns the user that the query names. If the host application passes no function that finds users, any id
 * of 1 to 255 printable ASCII characters names a user.
 */
async function userOf({ query, users: host }: OperatorContext): Promise<OperatorUser> {
  // Not trimmed: spaces at the ends belong to the host's ids.
  const sub = query.get('sub') ?? '';
  if (!/^[\x20-\x7e]{1,255}$/.test(sub)) return found<OperatorUser>(null);
  return host === null ? { sub, name: sub } : found(await host.find(sub));
}

function appRow(
  { clientId, clientName, scopes, grantedAt, lastUsedAt }: ConsentOfUser,
  visit: OperatorContext,
): Html {
  const { urls, voice, words } = visit;
  const used = lastUsedAt === null ? words.never : moment(lastUsedAt, voice.language);
  return html`<li><p class="what"><a href="${urls.client(clientId)}">${nameOf(clientName)}</a> <span>${scopes.join(' ')}</span> <span>${words.users.since}: ${moment(grantedAt, voice.language)} · ${words.users.lastUsed}: ${used}</span></p></li>`;
}

/**
 * Makes the forms of the acts on a user. Acts for which the host application has no function are left out.
 */
function acts(user: OperatorUser, visit: OperatorContext): Html {
  const { urls, words, voice, users: host } = visit;
  const text = words.users;
  const action = urls.user(user.sub);
  const { kyc } = voice.words.tools;
  const tierOptions = tiers.map(
    (tier) => [String(tier), fillText(voice.language, kyc.tier, { tier })] as const,
  );
  const isBlocked = user.blockedAt instanceof Date;
  return html`${
    user.kyc === undefined || host?.changeKyc === undefined
      ? null
      : actForm(visit, {
          ...{ action, act: 'kyc', label: text.changeKyc },
          body: html`${shownField({ status: user.kyc.kycStatus, tier: String(user.kyc.kycTier) })}${choiceField({ label: text.kyc, name: 'status', options: statuses.map((status) => [status, kyc.states[status]] as const), chosen: user.kyc.kycStatus })}
${choiceField({ label: text.tier, name: 'tier', options: tierOptions, chosen: String(user.kyc.kycTier) })}`,
        })
  }
${host?.endSessions === undefined ? null : asked(visit, { action, act: 'end_sessions', label: text.endSessions, hint: text.endSessionsHint })}
${asked(visit, { action, act: 'end', label: text.end, hint: text.endHint, isFinal: true })}
${isBlocked || host?.block === undefined ? null : asked(visit, { action, act: 'block', label: text.block, hint: text.blockHint })}
${isBlocked && host?.unblock !== undefined ? asked(visit, { action, act: 'unblock', label: text.unblock, hint: text.unblockHint }) : null}`;
}

/** Shows the page of a user: the user's data, the connected apps, and what operators can do. */
export async function user(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { admin, words } = visit;
  const text = words.users;
  const shown = await userOf(visit);
  const { sub, name, kid, handle, phone, email = null, createdAt, blockedAt, kyc, sessions } = shown;
  const apps = await admin.consents.list(sub);
  return framed(visit, {
    title: name,
    section: 'users',
    body: html`<div class="column"><section class="panel" aria-label="${words.nav.users}">${facts([
      [text.sub, html`<code>${sub}</code>`],
      kid === undefined || kid === sub ? null : [text.kid, html`<code>${nameOf(kid)}</code>`],
      handle === undefined ? null : [text.handle, `@${handle}`],
      phone === undefined ? null : [text.phone, nameOf(phone)],
      email === null ? null : [text.email, nameOf(email)],
      kyc === undefined ? null : [text.kyc, kycText(kyc, visit)],
      sessions === undefined ? null : [text.sessions, sessions],
      createdAt === undefined ? null : [words.created, time(createdAt, visit)],
      visit.users === null ? null : [words.state, stateOf(shown, visit)],
      blockedAt instanceof Date ? [text.blocked, time(blockedAt, visit)] : null,
    ])}</section>
<section class="panel" aria-labelledby="apps"><h2 id="apps">${text.apps}</h2>${apps.length === 0 ? html`<p class="muted">${text.noApps}</p>` : html`<ul class="rows">${apps.map((app) => appRow(app, visit))}</ul>`}</section></div>
${formPanel(visit, { label: words.state, body: acts(shown, visit) })}
${await historyPanel(visit, { target: `user:${sub}` })}`,
  });
}

/** Performs what an operator does with a user, such as blocking the user. */
export async function changeUser(visit: OperatorContext, form: Form): Promise<ConsoleAnswer> {
  const { admin, urls, users: host } = visit;
  const { sub, kyc: stored } = await userOf(visit);
  // Somebody else may have changed the other of the two while the page was open.
  const edited = (name: string, value: unknown) =>
    stored ? editedValue(form, name, { submitted: form.get(name), stored: value }) : form.get(name);
  const kycStatus = statuses.find((status) => status === edited('status', stored?.kycStatus));
  const kycTier = tiers.find((tier) => String(tier) === edited('tier', String(stored?.kycTier)));
  const kyc = kycStatus === undefined || kycTier === undefined ? undefined : { kycStatus, kycTier };
  const calls: {
    readonly [act: string]: readonly [notice: string, call: (() => Promise<unknown>) | undefined];
  } = {
    end: ['ended', () => admin.users.end(sub)],
    end_sessions: ['sessionsEnded', host?.endSessions?.bind(host, sub, admin)],
    block: ['blocked', host?.block?.bind(host, sub, admin)],
    unblock: ['unblocked', host?.unblock?.bind(host, sub, admin)],
    kyc: ['saved', kyc && host?.changeKyc?.bind(host, sub, kyc, admin)],
  };
  const act = form.get('act') ?? '';
  const [notice, call = unknownAct] = (Object.hasOwn(calls, act) ? calls[act] : undefined) ?? unknownAct();
  await call();
  return seeOther(urls.user(sub, { notice }));
}
