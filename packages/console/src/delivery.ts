import { type Delivery, type Html, html, nameOf } from '@ostiary/core/console';
import type { DeliveryPage } from './api.ts';
import { dueMoment, emptyList, foreignText, moment, pageLinks, stateBadge } from './parts.ts';
import type { Visit } from './visit.ts';
import type { Words } from './words/en/index.ts';

type Attempt = Delivery['attempts'][number];

/** The id of the form that the buttons of single deliveries belong to. */
export const againForm = 'again';

/** What the reader of a delivery wants to know of it: where it goes to, or which event it is. */
export interface DeliveryContext {
  readonly href: string | null;
  readonly title: string;
  readonly detail: string;
  /** Whether it can be delivered again. */
  readonly canRepeat: boolean;
}

/** Answers are kept up to 16 KiB, less what was cut of a character: longer ones are shown as a beginning. */
const cutBytes = 16 * 1024 - 4;

/** What is behind a failed attempt, as far as there is advice for it. */
export function failureKind(
  { error, httpStatus }: Pick<Attempt, 'error' | 'httpStatus'>,
  { failures }: Words,
) {
  const isKnown = (name: string): name is keyof Words['failures'] => Object.hasOwn(failures, name);
  if (error !== 'status') return error !== null && isKnown(error) ? error : 'unknown';
  if (httpStatus === 401 || httpStatus === 403) return 'status_denied';
  if (httpStatus === 404 || httpStatus === 405 || httpStatus === 410) return 'status_missing';
  if (httpStatus === 429) return 'status_busy';
  return httpStatus !== null && httpStatus >= 500 ? 'status_server' : 'status_other';
}

function answerOf({ number, response }: Attempt, id: string, { deliveries: words }: Words): Html | null {
  if (response === null) return null;
  if (response === '') return html`<p class="small muted">${words.noAnswer}</p>`;
  const bytes = Buffer.byteLength(response);
  const title = bytes > cutBytes ? words.answerCut : words.answer(bytes);
  return html`<details id="${id}"><summary class="small">${title}</summary>${foreignText(response, words.answerTo(number))}</details>`;
}

function attemptItem(attempt: Attempt, delivery: Delivery, { desk, voice }: Visit): Html {
  const words = voice.words.deliveries;
  const { number, error, httpStatus, at, durationMs } = attempt;
  const id = `${delivery.id}-${number}`;
  const name =
    number <= desk.maxAttempts ? words.attempt(number, desk.maxAttempts) : words.attemptBeyond(number);
  const { what, advice } = voice.words.failures[failureKind(attempt, voice.words)];
  const story =
    error === null
      ? html`<p>${words.succeeded}</p>`
      : html`<p>${what} <code class="muted">${nameOf(error)}</code></p>
<p class="advice"><b>${words.whatToDo}</b> ${advice}</p>`;
  return html`<li id="${id}-attempt"><span class="bead ${error === null ? 'good' : 'bad'}"></span><span class="rail"></span>
<p class="facts"><strong>${name}</strong> <span>${moment(at, voice.language)}</span> <span>${httpStatus === null ? words.noStatus : html`HTTP ${httpStatus}`}</span> <span>${durationMs} ms</span></p>
${story}
${answerOf(attempt, id, voice.words)}</li>`;
}

function whatIsNext(
  { status, nextAttemptAt, attempts }: Delivery,
  { desk, voice }: Visit,
): Html | string | null {
  const words = voice.words.deliveries;
  switch (status) {
    case 'pending':
      if (attempts.length === 0 || nextAttemptAt === null) return words.underWay;
      return words.next(dueMoment(nextAttemptAt, desk.now(), voice.language));
    case 'dropped':
      return words.dropped;
    case 'cancelled':
      return words.cancelled;
    case 'delivered':
      return null;
  }
}

function deliveryItem(delivery: Delivery, context: DeliveryContext, visit: Visit): Html {
  const { urlOf, voice } = visit;
  const words = voice.words.deliveries;
  const { id, eventId, endpointId, status, createdAt, attempts } = delivery;
  const { href, title, detail, canRepeat } = context;
  const heading =
    href === null ? html`<strong>${nameOf(title)}</strong>` : html`<a href="${href}">${nameOf(title)}</a>`;
  const next = whatIsNext(delivery, visit);
  return html`<li class="delivery" id="${id}">
<div class="head"><p class="to">${heading}<span>${nameOf(detail)} · ${moment(createdAt, voice.language)}</span></p>${stateBadge(status, words.states[status])}</div>
<ol class="timeline">${attempts.map((attempt) => attemptItem(attempt, delivery, visit))}${next === null ? null : html`<li id="${id}-next"><span class="bead next"></span><span class="rail"></span><p>${next}</p></li>`}</ol>
${canRepeat && status !== 'pending' ? html`<p><button class="compact" form="${againForm}" formaction="${urlOf('redeliver', { id: eventId })}" name="endpoint" value="${endpointId}">${words.again} <span class="hidden">${nameOf(title)}</span></button></p>` : null}
</li>`;
}

/** Deliveries as timelines, and the way to older ones. */
export function deliveryList(
  { data, nextCursor }: DeliveryPage,
  visit: Visit,
  {
    empty,
    contextOf,
    olderUrl,
  }: {
    readonly empty: string;
    readonly contextOf: (delivery: Delivery) => DeliveryContext;
    readonly olderUrl: (cursor: string) => string;
  },
): Html {
  const words = visit.voice.words.deliveries;
  if (data.length === 0) return emptyList(words.emptyTitle, empty);
  return html`<ul class="deliveries">${data.map((delivery) => deliveryItem(delivery, contextOf(delivery), visit))}</ul>
${pageLinks([[nextCursor === null ? null : olderUrl(nextCursor), words.more]])}`;
}
