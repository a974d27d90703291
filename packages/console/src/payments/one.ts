import type { Transfer } from '@ostiary/core/console';
import { type Html, html, nameOf } from '@ostiary/core/pages';
import { facts, foreignText, moment } from '../parts.ts';
import type { Voice } from '../words.ts';
import { statusBadge } from './list.ts';

/** Shows a transfer: its state, its amount, who is paid, and the partner's own texts. */
export function paymentFacts(transfer: Transfer, voice: Voice): Html {
  const { payments: text, tools } = voice.words;
  const { payment } = tools;
  const { id, status, failure, amount, currency, recipient, reference, description, metadata } = transfer;
  const own =
    metadata === null
      ? null
      : html`<h3>${text.metadata}</h3>${foreignText(JSON.stringify(metadata, null, 2), text.metadata)}`;
  return html`${facts([
    [payment.status, statusBadge(status, voice)],
    failure === null
      ? null
      : [payment.failure, html`<code>${nameOf(failure.code)}</code> ${nameOf(failure.message)}`],
    [payment.total, html`${amount} ${currency}`],
    [payment.recipient, html`<code>${nameOf(recipient.kid)}</code>`],
    reference === null ? null : [text.reference, nameOf(reference)],
    description === null ? null : [text.description, nameOf(description)],
    [payment.id, html`<code>${id}</code>`],
  ])}
${own}`;
}

/** Event that tells a partner how a transfer ended. */
interface OutcomeEvent {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
  /** URL of the page of the event. */
  readonly href: string;
  /** Deliveries of the event; `null` if the page does not list them. */
  readonly deliveries: Html | null;
}

/** Shows the steps of a transfer in their order: when it was initiated, how it ended, and the event about it. */
export function paymentSteps(
  { id, status, createdAt, updatedAt }: Transfer,
  event: OutcomeEvent | null,
  { language, words }: Voice,
): Html {
  const { payments: text, tools } = words;
  const { payment } = tools;
  const step = (name: string, bead: string, what: Html | string, time: string, more: Html | null = null) =>
    html`<li id="${id}-${name}"><span class="bead ${bead}"></span><span class="rail"></span><p class="facts"><strong>${what}</strong> <span>${moment(time, language)}</span></p>${more}</li>`;
  const missing = status === 'pending' ? payment.noEventYet : payment.noEvent;
  const end =
    status === 'pending'
      ? null
      : step('end', status === 'completed' ? 'good' : 'bad', payment.states[status], updatedAt);
  const told =
    event === null
      ? html`<li id="${id}-event"><span class="bead next"></span><span class="rail"></span><p class="muted">${missing}</p></li>`
      : step(
          'event',
          '',
          html`<a href="${event.href}">${nameOf(event.type)}</a>`,
          event.createdAt,
          html`<p class="small"><code>${event.id}</code></p>${event.deliveries}`,
        );
  return html`<ol class="timeline">${step('start', '', text.initiated, createdAt)}${end}${told}</ol>`;
}
