import { randomBytes } from 'node:crypto';
import { type Html, html, render } from '@ostiary/web-kit';
import type { Transfer } from '../transfers.ts';

/** What the shop gives back, in gourdes. */
export const cashbackAmounts = ['5.00', '25.00', '50.00'] as const;

const states: Readonly<Record<string, readonly [label: string, kind: string]>> = {
  pending: ['On its way', 'waiting'],
  completed: ['Paid', 'good'],
  failed: ['Failed', 'bad'],
};

function transferRow({ id, status, amount, currency, failure, createdAt }: Transfer): Html {
  const [label, kind] = states[Object.hasOwn(states, status) ? status : ''] ?? [status, 'waiting'];
  return html`<li class="transfer" data-transfer="${id}" data-status="${status}">
<div><strong>${amount} ${currency}</strong><span class="badge ${kind}">${label}</span></div>
<p class="small">${failure === null ? null : html`${failure.message} `}<code>${id}</code> · ${createdAt.slice(11, 19)} UTC</p>
${
  status === 'pending'
    ? html`<form method="post" action="/cashback/refresh"><input type="hidden" name="id" value="${id}"><button class="button quiet small-button" type="submit">Look again</button></form>`
    : null
}</li>`;
}

function payments(transfers: readonly Transfer[]): Html {
  return transfers.length === 0
    ? html`<p class="small">Nothing yet.</p>`
    : html`<ul class="transfers" aria-labelledby="paid">${transfers.map(transferRow)}</ul>`;
}

/** The part of the card that changes when a webhook comes. */
export function paymentsPart(transfers: readonly Transfer[]): string {
  return render(payments(transfers));
}

/** The form that pays the customer, and what was paid. */
export function cashbackCard(transfers: readonly Transfer[], providerName: string): Html {
  // Sent again, by a second click or by reloading, the same form pays nothing more.
  const key = `cashback-${randomBytes(18).toString('base64url')}`;
  const choices = cashbackAmounts.map(
    (amount, at) =>
      html`<label class="pick"><input type="radio" name="amount" value="${amount}"${at === 0 ? html` checked` : null}><span>${amount} <small>HTG</small></span></label>`,
  );
  return html`<section class="card cashback" id="cashback"><div>
<h2>Your cashback</h2>
<p class="small">The shop pays you with its API key, from server to server, through the partner API of ${providerName}. The request is signed, with a <code>reference</code> in it that is good for one payment, and carries an <code>Idempotency-Key</code> for the shop’s own retries.</p>
<form method="post" action="/cashback"><input type="hidden" name="idempotency_key" value="${key}">
<fieldset><legend>How much</legend><div class="picks">${choices}</div></fieldset>
<button class="button primary" type="submit">Receive your cashback</button></form></div>
<div><h3 id="paid">Payments</h3><div data-live="/cashback/payments">${payments(transfers)}</div></div></section>`;
}
