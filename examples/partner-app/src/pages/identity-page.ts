import { type Html, html } from '@ostiary/web-kit';
import type { PartnerConfig } from '../config.ts';
import type { Notice, SignedIn } from '../sessions.ts';
import type { Transfer } from '../transfers.ts';
import { cashbackCard } from './cashback.ts';
import { noticeOf } from './home-page.ts';
import { page } from './layout.ts';

/** The fields that each scope brings, and how the shop calls them. */
const groups = [
  {
    scope: 'openid',
    title: 'Who you are',
    fields: { sub: 'Subject', kid: 'User ID', role: 'Role', country: 'Country', createdAt: 'Member since' },
  },
  { scope: 'profile', title: 'Profile', fields: { name: 'Name', handle: 'Handle', avatarUrl: 'Picture' } },
  { scope: 'kyc', title: 'Identity check', fields: { kycStatus: 'Status', kycTier: 'Tier' } },
  {
    scope: 'wallet:balance',
    title: 'Balances',
    fields: { htgBalance: 'Gourdes (HTG)', usdBalance: 'US dollars (USD)' },
  },
  {
    scope: 'identity',
    title: 'Trust',
    fields: { trustScore: 'Score', trustTier: 'Tier', activeCredentials: 'Credentials' },
  },
] as const;

function show(field: string, value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (field === 'createdAt' && typeof value === 'string') return value.slice(0, 10);
  if (field === 'handle') return `@${String(value)}`;
  if (Array.isArray(value)) {
    const types = value.map((item: unknown) =>
      typeof item === 'object' && item !== null && 'type' in item ? String(item.type) : String(item),
    );
    return types.length === 0 ? 'none' : types.join(', ');
  }
  return String(value);
}

function card(
  group: (typeof groups)[number],
  granted: boolean,
  identity: Readonly<Record<string, unknown>>,
): Html {
  const heading = html`<h2>${group.title}<code>${group.scope}</code></h2>`;
  if (!granted)
    return html`<section class="card absent">${heading}<p class="small">The shop did not ask.</p></section>`;
  const rows = Object.entries(group.fields).map(
    ([field, label]) =>
      html`<div data-field="${field}"><dt>${label}</dt><dd>${show(field, identity[field])}</dd></div>`,
  );
  return html`<section class="card">${heading}<dl>${rows}</dl></section>`;
}

/** What the shop received, scope by scope. */
export function identityPage(
  config: PartnerConfig,
  { client, scope, expiresAt, identity, readAt }: SignedIn,
  transfers: readonly Transfer[],
  notice: Notice | null,
): string {
  const name = typeof identity.name === 'string' ? identity.name : null;
  const picture = typeof identity.avatarUrl === 'string' ? identity.avatarUrl : null;
  return page(
    'Signed in',
    html`${noticeOf(notice)}
<div class="hello">${
      picture !== null && /^https?:\/\//.test(picture)
        ? html`<img src="${picture}" alt="" referrerpolicy="no-referrer">`
        : html`<div class="initial" aria-hidden="true">${[...(name ?? '☕')][0] ?? ''}</div>`
    }<div><h1>${name === null ? 'Bonjou!' : `Bonjou, ${name}!`}</h1>
<p>This is everything that ${config.provider.name} told the shop about you.</p></div></div>
${
  // Without the user's public id the shop does not know whom to pay.
  config.partnerApi !== null && typeof identity.kid === 'string'
    ? cashbackCard(transfers, config.provider.name)
    : null
}
<div class="grid">${groups.map((group) => card(group, scope.includes(group.scope), identity))}
<section class="card"><h2>The token<code>${client} client</code></h2><dl>
<div><dt>Scopes</dt><dd>${scope.join(' ')}</dd></div>
<div><dt>Ends</dt><dd>${expiresAt.toISOString().slice(11, 19)} UTC</dd></div>
<div><dt>Last read</dt><dd>${readAt.toISOString().slice(11, 19)} UTC</dd></div></dl></section></div>
<div class="actions">
<form method="post" action="/refresh"><button class="button quiet" type="submit">Read the identity again</button></form>
<form method="post" action="/revoke"><button class="button quiet" type="submit">Revoke the token</button></form>
<form method="post" action="/sign-out"><button class="button primary" type="submit">Sign out of the shop</button></form>
</div>
<details><summary>The answer of userinfo, as JSON</summary><pre id="userinfo" tabindex="0">${JSON.stringify(identity, null, 2)}</pre></details>`,
    html`<script src="/live.js" defer></script>\n`,
  );
}
