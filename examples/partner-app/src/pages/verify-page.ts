import type { Verification } from '@ostiary/client-sdk';
import { type Html, html } from '@ostiary/web-kit';
import type { PartnerConfig } from '../config.ts';
import type { Notice } from '../sessions.ts';
import { noticeOf } from './home-page.ts';
import { page } from './layout.ts';
import { english } from './words.ts';

const labels = {
  kid: 'User ID',
  role: 'Role',
  country: 'Country',
  kycStatus: 'Identity check',
  kycTier: 'Tier',
} as const satisfies { readonly [Field in keyof Verification['user']]: string };

function result({ user, expiresAt }: Verification): Html {
  const fields = Object.keys(labels) as (keyof typeof labels)[];
  const rows = fields.map(
    (field) =>
      html`<div data-field="${field}"><dt>${labels[field]}</dt><dd>${String(user[field])}</dd></div>`,
  );
  return html`<section class="card" id="verified"><p class="notice good" role="status">The passport is genuine and valid.</p>
<h2>Who it belongs to</h2><dl>${rows}
<div><dt>Valid until</dt><dd>${expiresAt.slice(11, 19)} UTC</dd></div></dl></section>`;
}

/** Makes the page on which the shop verifies a customer's passport at the counter. */
export function verifyPage(
  { provider, partnerApi }: PartnerConfig,
  outcome: { readonly verification: Verification | null; readonly notice: Notice | null },
): string {
  const form =
    partnerApi === null
      ? html`<p class="card">This shop has no API key. Set <code>PARTNER_API_KEY</code> and <code>PARTNER_SIGNING_SECRET</code>.</p>`
      : html`<form class="card" method="post" action="/verify">
<label class="field" for="token"><strong>Passport</strong><small>The text of the passport</small></label>
<textarea id="token" name="token" rows="6" required maxlength="2048" autocomplete="off" autocapitalize="none" spellcheck="false"></textarea>
<button class="button primary" type="submit">Verify</button></form>`;
  return page(
    english,
    'Verify a passport',
    html`${noticeOf(outcome.notice)}
<div class="columns top"><div>
<h1>Who is at the counter?</h1>
<p class="lead">A customer opens <a href="${provider.authUrl}/passport">their passport at ${provider.name}</a>. A till would scan the code; here, open “Passport as text” below the code, and paste the text.</p>
<p class="small">The shop’s server asks ${provider.name} whether the passport is genuine. A passport is valid for five minutes.</p>
</div><div class="stack">${form}${outcome.verification === null ? null : result(outcome.verification)}</div></div>`,
  );
}
