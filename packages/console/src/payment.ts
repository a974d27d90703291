import type { ConsoleAnswer, Transfer } from '@ostiary/core/console';
import { type Html, html, nameOf } from '@ostiary/core/pages';
import { answerFramed } from './frame.ts';
import { facts, moment, stateBadge } from './parts.ts';
import type { Visit } from './visit.ts';

const badges = { pending: 'pending', completed: 'delivered', failed: 'dropped' } as const;

function factsOf(
  { status, amount, currency, recipient, reference, failure, createdAt, id }: Transfer,
  visit: Visit,
): Html {
  const { voice } = visit;
  const { payment: words } = voice.words.tools;
  return facts([
    [words.status, stateBadge(badges[status], words.states[status])],
    failure === null
      ? null
      : [words.failure, html`<code>${nameOf(failure.code)}</code> ${nameOf(failure.message)}`],
    [words.total, html`${amount} ${currency}`],
    [words.recipient, html`<code>${nameOf(recipient.kid)}</code>`],
    reference === null ? null : [words.reference, nameOf(reference)],
    [words.time, moment(createdAt, voice.language)],
    [words.id, html`<code>${id}</code>`],
  ]);
}

/** Shows the page of a payment: its state, and the event about its outcome. */
export async function payment(visit: Visit): Promise<ConsoleAnswer> {
  const { api, id, mode, urlOf, voice } = visit;
  const { payment: words } = voice.words.tools;
  const transfer = await api('getPayment', { path: { id } });
  const { event } = await api('getPaymentEvent', { path: { id } });
  const told =
    event === null
      ? html`<p class="muted">${transfer.status === 'pending' ? words.noEventYet : words.noEvent}</p>`
      : html`<p><a href="${urlOf('event', { id: event.id })}">${nameOf(event.type)}</a> <span class="small muted">${moment(event.createdAt, voice.language)}</span></p>`;
  return answerFramed(visit, {
    title: words.one,
    layout: 'main-first',
    section: mode === 'test' ? 'tools' : 'events',
    said: `${words.status}: ${words.states[transfer.status]}`,
    body: html`<section class="panel" aria-labelledby="facts"><h2 id="facts">${words.facts}</h2>
<div id="payment-facts" data-live>${factsOf(transfer, visit)}</div></section>
<section class="panel" aria-labelledby="told"><h2 id="told">${words.event}</h2>
<div id="payment-event" data-live>${told}</div>${
      mode === 'test'
        ? html`
<p><a href="${urlOf('tools')}#payment">${words.another}</a></p>`
        : null
    }</section>`,
  });
}
