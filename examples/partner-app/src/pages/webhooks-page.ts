import { type Html, html, render } from '@ostiary/web-kit';
import type { WebhookEvent } from '@ostiary/webhook-verifier';
import { type PartnerConfig, webhookModes, webhookUrls } from '../config.ts';
import type { Arrival, ReceivedEvent, Refusal } from '../webhook-inbox.ts';
import { page } from './layout.ts';
import { english } from './words.ts';

/** Numbers of webhooks that the page can make fail. Five covers all attempts of one delivery. */
export const failureChoices = [0, 1, 2, 5] as const;

/** Data of the webhooks page. */
export interface WebhookState {
  /** Number of the next webhooks that the shop fails on purpose. */
  readonly failures: number;
  /** Events that the shop received, latest first. */
  readonly events: readonly ReceivedEvent[];
  readonly refusals: readonly Refusal[];
}

const time = (at: Date): string => `${at.toISOString().slice(11, 19)} UTC`;

/** Describes an event in one line. */
function tell({ type, data }: WebhookEvent): string {
  switch (type) {
    case 'payment.completed':
      return `${data.amount} ${data.currency} to ${data.recipient.kid}`;
    case 'payment.failed':
      return `${data.amount} ${data.currency} to ${data.recipient.kid}: ${data.failure.message}`;
    case 'kyc.updated':
      return `${data.kid}: ${data.previous.kycStatus} (tier ${data.previous.kycTier}) → ${data.kycStatus} (tier ${data.kycTier})`;
    case 'webhook.test':
      return data.message;
    default:
      return 'a type that this shop does not know';
  }
}

const outcomes = {
  handled: ['good', 'handled, answered 200'],
  failed: ['bad', 'failed on purpose, answered 500'],
  duplicate: ['waiting', 'a duplicate: answered 200, not handled again'],
} as const;

function arrivalRow({ at, attempt, outcome }: Arrival): Html {
  const [kind, text] = outcomes[outcome];
  return html`<li class="${kind}" data-outcome="${outcome}"><span>${time(at)}</span> ${attempt === null ? null : html`attempt ${String(attempt)}, `}${text}</li>`;
}

function eventRow({ event, arrivals }: ReceivedEvent): Html {
  return html`<li class="event" data-event="${event.id}" data-type="${event.type}">
<div><strong>${event.type}</strong><span class="badge">${event.mode} mode</span></div>
<p>${tell(event)}</p>
<p class="small"><code>${event.id}</code></p>
<ol class="arrivals" aria-label="Deliveries">${arrivals.map(arrivalRow)}</ol>
<details id="body-${event.id}"><summary>The signed body</summary><pre tabindex="0">${JSON.stringify(event, null, 2)}</pre></details></li>`;
}

function refusalRow({ at, mode, code }: Refusal): Html {
  return html`<li class="bad"><span>${time(at)}</span> ${mode} mode, answered 400: <code>${code}</code></li>`;
}

function news({ failures, events }: WebhookState): string {
  const [latest] = events;
  const planned =
    failures === 0 ? '' : ` The next ${failures === 1 ? 'delivery' : `${failures} deliveries`} will fail.`;
  if (latest === undefined) return `Nothing has arrived yet.${planned}`;
  const outcome = latest.arrivals.at(-1)?.outcome ?? 'handled';
  const count = events.length === 1 ? '1 event' : `${events.length} events`;
  return `${count}; the latest is ${latest.event.type}, ${outcomes[outcome][1]}.${planned}`;
}

function received(state: WebhookState): Html {
  const { events, refusals } = state;
  return html`<div data-news="${news(state)}"></div>${
    state.failures === 0
      ? null
      : html`<p class="notice bad">The next ${state.failures === 1 ? 'delivery' : `${state.failures} deliveries`} will be answered with 500.</p>`
  }${
    events.length === 0
      ? html`<p class="empty">Nothing has arrived yet.</p>`
      : html`<ul class="events">${events.map(eventRow)}</ul>`
  }${
    refusals.length === 0
      ? null
      : html`<h3>Refused</h3><p class="small">Anybody can send something to this address. What the verifier refuses is answered with 400, and nothing of it is kept.</p><ul class="arrivals">${refusals.map(refusalRow)}</ul>`
  }`;
}

/** Makes the part of the webhooks page that changes when a webhook arrives. */
export function receivedPart(state: WebhookState): string {
  return render(received(state));
}

function failureCard(): Html {
  const choices = failureChoices.map(
    (count) =>
      html`<label class="pick">${html`<input type="radio" name="count" value="${String(count)}"`}${count === 1 ? html` checked` : null}${html`>`}<span>${count === 0 ? 'None' : String(count)}</span></label>`,
  );
  return html`<form class="card" id="fail" method="post" action="/webhooks/failures"><h2>Make it fail</h2>
<p class="small">The shop answers the next deliveries with 500. Ostiary tries again, with the same event and the same bytes, at longer and longer intervals, which <code>OSTIARY_WEBHOOK_RETRY_DELAYS</code> can shorten.</p>
<fieldset><legend>How many deliveries</legend><div class="picks four">${choices}</div></fieldset>
<button class="button quiet" type="submit">Let them fail</button></form>`;
}

function causeCard({ provider, webhooks, url }: PartnerConfig): Html {
  const addresses = webhookUrls(url);
  const rows = webhookModes.map(
    (mode) =>
      html`<div><dt>${mode} mode</dt><dd><code>${(webhooks?.secrets[mode] ?? null) === null ? 'no secret' : addresses[mode]}</code></dd></div>`,
  );
  return html`<section class="card" id="cause"><h2>Make it happen</h2>
<ul class="plain"><li><a href="/">Receive your cashback</a>: <code>payment.completed</code></li>
<li>Trigger any event in the <a href="${provider.authUrl}/sandbox">sandbox console</a>, with the shop’s test key</li>
<li>Change the identity check of a customer who shared <code>kyc</code>: <code>npm run ostiary -- users kyc anaika --tier 2</code></li></ul>
<h3>Where the shop listens</h3><dl>${rows}</dl></section>`;
}

/** Makes the page that lists received events for the shop's staff. */
export function webhooksPage(config: PartnerConfig, state: WebhookState): string {
  const { name } = config.provider;
  const intro = html`<h1 class="modest">Webhooks that ${name} sent to the shop</h1>
<p class="lead">The shop does not poll for the result of a payment: ${name} sends it a webhook. Each delivery is signed; the shop verifies it, handles every event once, and responds.</p>`;
  if (config.webhooks === null) {
    return page(
      english,
      'Webhooks',
      html`${intro}<p class="card">This shop has no webhook secret. Set <code>WEBHOOK_SECRET</code> to the one that its endpoint is registered with.</p>`,
    );
  }
  return page(
    english,
    'Webhooks',
    html`${intro}
<p class="small"><a href="#cause">Make it happen</a> · <a href="#fail">Make it fail</a></p>
<div class="columns top desk">
<section class="card" aria-labelledby="received"><div class="heading"><h2 id="received">Received</h2><span class="badge good" data-live-sign hidden>Updating live</span><noscript><a href="/webhooks">Reload</a></noscript></div>
<p id="live-status" class="unseen" role="status"></p>
<div data-live="/webhooks/received">${received(state)}</div></section>
<div class="stack">${causeCard(config)}${failureCard()}</div>
</div>`,
    html`<script src="/live.js" defer></script>\n`,
  );
}
