import { fillText, type Html, html } from '@ostiary/web-kit';
import type { PartnerConfig } from '../config.ts';
import type { Notice, SignedIn } from '../sessions.ts';
import type { Transfer } from '../transfers.ts';
import { cashbackCard } from './cashback.ts';
import { noticeOf } from './home-page.ts';
import { page } from './layout.ts';
import type { Words } from './words.ts';

/** Fields of the user, grouped by scope. */
const groups = [
  { scope: 'openid', fields: ['sub', 'kid', 'role', 'country', 'createdAt'] },
  { scope: 'profile', fields: ['name', 'handle', 'avatarUrl'] },
  { scope: 'kyc', fields: ['kycStatus', 'kycTier'] },
  { scope: 'wallet:balance', fields: ['htgBalance', 'usdBalance'] },
  { scope: 'identity', fields: ['trustScore', 'trustTier', 'activeCredentials'] },
] as const;

function show(field: string, value: unknown, { none }: Words): string {
  if (value === null || value === undefined) return none;
  if (field === 'createdAt' && typeof value === 'string') return value.slice(0, 10);
  if (field === 'handle') return `@${String(value)}`;
  if (Array.isArray(value)) {
    const types = value.map((item: unknown) =>
      typeof item === 'object' && item !== null && 'type' in item ? String(item.type) : String(item),
    );
    return types.length === 0 ? none : types.join(', ');
  }
  return String(value);
}

function card(
  words: Words,
  group: (typeof groups)[number],
  granted: boolean,
  identity: Readonly<Record<string, unknown>>,
): Html {
  const heading = html`<h2>${words.groups[group.scope]}<code>${group.scope}</code></h2>`;
  if (!granted)
    return html`<section class="card absent">${heading}<p class="small">${words.didNotAsk}</p></section>`;
  const rows = group.fields.map(
    (field) =>
      html`<div data-field="${field}"><dt>${words.fields[field]}</dt><dd>${show(field, identity[field], words)}</dd></div>`,
  );
  return html`<section class="card">${heading}<dl>${rows}</dl></section>`;
}

/** Makes the page with the data that the shop received, grouped by scope. */
export function identityPage(
  words: Words,
  config: PartnerConfig,
  { client, scope, expiresAt, identity, readAt }: SignedIn,
  transfers: readonly Transfer[],
  notice: Notice | null,
): string {
  const name = typeof identity.name === 'string' ? identity.name : null;
  const picture = typeof identity.avatarUrl === 'string' ? identity.avatarUrl : null;
  const provider = config.provider.name;
  return page(
    words,
    words.groups.openid,
    html`${noticeOf(notice)}
<div class="hello">${
      picture !== null && /^https?:\/\//.test(picture)
        ? html`<img src="${picture}" alt="" referrerpolicy="no-referrer">`
        : html`<div class="initial" aria-hidden="true">${[...(name ?? '☕')][0] ?? ''}</div>`
    }<div><h1>${name === null ? words.hello : fillText(words.language, words.helloName, { name })}</h1>
<p>${fillText(words.language, words.everything, { provider })}</p></div></div>
${
  // Without the user's public id the shop cannot pay.
  config.partnerApi !== null && typeof identity.kid === 'string'
    ? cashbackCard(words, transfers, provider)
    : null
}
<div class="grid">${groups.map((group) => card(words, group, scope.includes(group.scope), identity))}
<section class="card"><h2>${words.token}<code>${fillText(words.language, words.client, { client })}</code></h2><dl>
<div><dt>${words.scopes}</dt><dd>${scope.join(' ')}</dd></div>
<div><dt>${words.ends}</dt><dd>${expiresAt.toISOString().slice(11, 19)} UTC</dd></div>
<div><dt>${words.lastRead}</dt><dd>${readAt.toISOString().slice(11, 19)} UTC</dd></div></dl></section></div>
<div class="actions">
<form method="post" action="/refresh"><button class="button quiet" type="submit">${words.readAgain}</button></form>
<form method="post" action="/revoke"><button class="button quiet" type="submit">${words.revoke}</button></form>
<form method="post" action="/sign-out"><button class="button primary" type="submit">${words.signOut}</button></form>
</div>
<details><summary>${words.asJson}</summary><pre id="userinfo" tabindex="0">${JSON.stringify(identity, null, 2)}</pre></details>`,
    html`<script src="/live.js" defer></script>\n`,
  );
}
