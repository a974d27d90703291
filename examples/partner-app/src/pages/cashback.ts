import { randomBytes } from 'node:crypto';
import { fill, type Html, html, render } from '@ostiary/web-kit';
import type { Transfer } from '../transfers.ts';
import type { Words } from './words.ts';

/** Amounts of cashback to choose from, in gourdes. */
export const cashbackAmounts = ['5.00', '25.00', '50.00'] as const;

const kinds: Readonly<Record<string, string>> = { completed: 'good', failed: 'bad' };

/** Returns the text that explains the status of a transfer to the customer. */
export const statusIn = (words: Words, status: string): string =>
  status === 'pending' || status === 'completed' || status === 'failed' ? words[status] : status;

function transferRow(words: Words, { id, status, amount, currency, failure, createdAt }: Transfer): Html {
  const kind = kinds[status] ?? 'waiting';
  return html`<li class="transfer" data-transfer="${id}" data-status="${status}">
<div><strong>${amount} ${currency}</strong><span class="badge ${kind}">${statusIn(words, status)}</span></div>
<p class="small">${failure === null ? null : html`${failure.message} `}<code>${id}</code> · ${createdAt.slice(11, 19)} UTC</p>
${
  status === 'pending'
    ? html`<form method="post" action="/cashback/refresh"><input type="hidden" name="id" value="${id}"><button class="button quiet small-button" type="submit">${words.lookAgain}</button></form>`
    : null
}</li>`;
}

function payments(words: Words, transfers: readonly Transfer[]): Html {
  return transfers.length === 0
    ? html`<p class="small">${words.nothingYet}</p>`
    : html`<ul class="transfers" aria-labelledby="paid">${transfers.map((transfer) => transferRow(words, transfer))}</ul>`;
}

/** Makes the part of the cashback card that changes when a webhook arrives. */
export function paymentsPart(words: Words, transfers: readonly Transfer[]): string {
  return render(payments(words, transfers));
}

/** Makes the card with the form that pays the customer, and a list of the payments so far. */
export function cashbackCard(words: Words, transfers: readonly Transfer[], provider: string): Html {
  // Idempotency key of this form: sent again, for example by a second click, the form pays only once.
  const key = `cashback-${randomBytes(18).toString('base64url')}`;
  const choices = cashbackAmounts.map(
    (amount, at) =>
      html`<label class="pick">${html`<input type="radio" name="amount" value="${amount}"`}${at === 0 ? html` checked` : null}${html`>`}<span>${amount} <small>HTG</small></span></label>`,
  );
  return html`<section class="card cashback" id="cashback"><div>
<h2>${words.cashback}</h2>
<p class="small">${fill(words.language, words.cashbackHow, { provider, reference: html`<code>reference</code>`, key: html`<code>Idempotency-Key</code>` })}</p>
<form method="post" action="/cashback"><input type="hidden" name="idempotency_key" value="${key}">
<fieldset><legend>${words.howMuch}</legend><div class="picks">${choices}</div></fieldset>
<button class="button primary" type="submit">${words.receive}</button></form></div>
<div><h3 id="paid">${words.payments}</h3><div data-live="/cashback/payments">${payments(words, transfers)}</div></div></section>`;
}
