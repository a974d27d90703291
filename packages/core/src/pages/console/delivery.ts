import type { Language } from '../../scopes.ts';
import { type Html, html, nameOf } from '../html.ts';
import { type FailureKind, failures } from './failures.ts';
import { dueMoment, foreignText, moment, stateBadge } from './parts.ts';
import { consoleWords } from './text.ts';
import type { StateName } from './words.ts';

/** One attempt, as it is shown. */
export interface AttemptView {
  readonly number: number;
  readonly at: Date;
  readonly durationMs: number;
  readonly httpStatus: number | null;
  /** The class of the error as the API names it, and what it means; `null` for a success. */
  readonly failure: { readonly error: string; readonly kind: FailureKind } | null;
  /** The beginning of the answer's body, whatever it is; `null` when no answer came. */
  readonly response: string | null;
}

/** One delivery, as it is shown. */
export interface DeliveryView {
  readonly id: string;
  readonly state: Exclude<StateName, 'none'>;
  readonly createdAt: Date;
  readonly nextAttemptAt: Date | null;
  readonly attempts: readonly AttemptView[];
  /** How many attempts a delivery has at most. */
  readonly maxAttempts: number;
  /** What the reader wants to know of it: where it goes to, or which event it is. */
  readonly about: { readonly href: string | null; readonly title: string; readonly detail: string };
  /** Where it can be delivered again, with the id of the form and the value of its button. */
  readonly again: { readonly form: string; readonly action: string; readonly endpoint: string } | null;
}

/** Answers are kept up to 16 KiB, less what was cut of a character: longer ones are shown as a beginning. */
const cutBytes = 16 * 1024 - 4;

function answerOf({ number, response }: AttemptView, id: string, language: Language): Html | null {
  if (response === null) return null;
  const words = consoleWords[language].deliveries;
  if (response === '') return html`<p class="small muted">${words.noAnswer}</p>`;
  const bytes = Buffer.byteLength(response);
  const title = bytes > cutBytes ? words.answerCut : words.answer(bytes);
  return html`<details id="${id}"><summary class="small">${title}</summary>${foreignText(response, words.answerTo(number))}</details>`;
}

function attemptItem(attempt: AttemptView, delivery: DeliveryView, language: Language): Html {
  const words = consoleWords[language].deliveries;
  const { number, failure, httpStatus } = attempt;
  const { maxAttempts } = delivery;
  const id = `${delivery.id}-${number}`;
  const name = number <= maxAttempts ? words.attempt(number, maxAttempts) : words.attemptBeyond(number);
  const story =
    failure === null
      ? html`<p>${words.succeeded}</p>`
      : html`<p>${failures[language][failure.kind].what} <code class="muted">${nameOf(failure.error)}</code></p>
<p class="advice"><b>${words.whatToDo}</b> ${failures[language][failure.kind].advice}</p>`;
  return html`<li id="${id}-attempt"><span class="bead ${failure === null ? 'good' : 'bad'}"></span><span class="rail"></span>
<p class="facts"><strong>${name}</strong> <span>${moment(attempt.at, language)}</span> <span>${httpStatus === null ? words.noStatus : html`HTTP ${httpStatus}`}</span> <span>${attempt.durationMs} ms</span></p>
${story}
${answerOf(attempt, id, language)}</li>`;
}

function whatIsNext({ id, state, nextAttemptAt, attempts }: DeliveryView, language: Language): Html | null {
  const words = consoleWords[language].deliveries;
  const item = (words: Html | string): Html =>
    html`<li id="${id}-next"><span class="bead next"></span><span class="rail"></span><p>${words}</p></li>`;
  switch (state) {
    case 'pending':
      if (attempts.length === 0 || nextAttemptAt === null) return item(words.underWay);
      return item(words.next(dueMoment(nextAttemptAt, language)));
    case 'dropped':
      return item(words.dropped);
    case 'cancelled':
      return item(words.cancelled);
    case 'delivered':
      return null;
  }
}

/** A delivery with its attempts as a timeline. */
export function deliveryItem(delivery: DeliveryView, language: Language): Html {
  const words = consoleWords[language].deliveries;
  const { id, state, about, again } = delivery;
  const title =
    about.href === null
      ? html`<strong>${nameOf(about.title)}</strong>`
      : html`<a href="${about.href}">${nameOf(about.title)}</a>`;
  return html`<li class="delivery" id="${id}">
<div class="head"><p class="to">${title}<span>${nameOf(about.detail)} · ${moment(delivery.createdAt, language)}</span></p>${stateBadge(state, words.states[state])}</div>
<ol class="timeline">${delivery.attempts.map((attempt) => attemptItem(attempt, delivery, language))}${whatIsNext(delivery, language)}</ol>
${again === null ? null : html`<p><button class="compact" form="${again.form}" formaction="${again.action}" name="endpoint" value="${again.endpoint}">${words.again} <span class="hidden">${nameOf(about.title)}</span></button></p>`}
</li>`;
}
