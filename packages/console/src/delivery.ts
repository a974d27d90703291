import { type AttemptRequest, deliveryState, failedAttempts } from '@ostiary/core/console';
import { fill, fillText, type Html, html, nameOf } from '@ostiary/core/pages';
import { deliveriesPerPage, type ListPage, type ShownDelivery } from './api.ts';
import { timeOrders } from './list-order.ts';
import { counted, deliveryBadge, dueMoment, emptyList, foreignText, moment } from './parts.ts';
import { curlOf, snippet } from './snippets.ts';
import { aroundPage } from './two-way.ts';
import type { Visit } from './visit.ts';
import type { Words } from './words.ts';

type Attempt = ShownDelivery['attempts'][number];

/** Id of the form that the redelivery buttons of single deliveries submit. */
export const againForm = 'again';

/**
 * Heading of a delivery (its endpoint in a list of an event's deliveries, or its event in a list of an
 * endpoint's deliveries) with its link, and whether the delivery can be sent again.
 */
export interface DeliveryContext {
  readonly href: string | null;
  readonly title: string;
  readonly detail: string;
  /** True if the endpoint is enabled, so that a delivery which is not pending can be sent again. */
  readonly canRepeat: boolean;
}

/** Errors of a delivery attempt that occur before any part of the request is sent. */
const neverSent: ReadonlySet<string> = new Set([
  ...['target_refused', 'connection_refused', 'connection_failed', 'certificate', 'tls'],
]);

/**
 * Returns the name of the page text that explains a failed delivery attempt; `unknown` if no text explains
 * it.
 */
export function failureKind(
  { error, httpStatus }: Pick<Attempt, 'error' | 'httpStatus'>,
  { failures }: Words,
) {
  const isKnown = (name: string): name is keyof Words['failures'] => Object.hasOwn(failures, name);
  if (error !== 'status') return error !== null && isKnown(error) ? error : 'unknown';
  // The receivers of `@ostiary/webhook-verifier` respond with 400 to a wrong signature.
  if (httpStatus === 400 || httpStatus === 401 || httpStatus === 403) return 'status_denied';
  if (httpStatus === 404 || httpStatus === 405 || httpStatus === 410) return 'status_missing';
  if (httpStatus === 429) return 'status_busy';
  return httpStatus !== null && httpStatus >= 500 ? 'status_server' : 'status_other';
}

/** Explains a failed delivery attempt: what happened, and the HTTP status or the error. */
export function failureLine(attempt: Pick<Attempt, 'error' | 'httpStatus'>, words: Words): Html {
  const { error, httpStatus } = attempt;
  const answer = httpStatus === null ? nameOf(error ?? '') : `HTTP ${httpStatus}`;
  return html`${words.failures[failureKind(attempt, words)].what} <code>${answer}</code>`;
}

/** Maximum size of a response that is shown in the list of deliveries itself, in bytes. */
const inlineBytes = 1_024;

/**
 * Number of bytes of a stored response from which the response counts as cut. Test mode stores the first KiB,
 * without a partial character of up to three bytes at the end. Live mode stores the first 16 KiB.
 */
const cutBytes = { test: 1_021, live: 16_384 } as const;

/**
 * Shows a short response of an endpoint, and links to a long one: rendering a page with 50 long responses
 * would take 50 ms or more.
 */
function answerPart({ number, response }: Attempt, { id }: ShownDelivery, visit: Visit): Html | null {
  const { mode, urlOf, voice } = visit;
  const words = voice.words.deliveries;
  if (response === null) return null;
  if (response === '') return html`<p class="small muted">${words.noAnswer}</p>`;
  const bytes = Buffer.byteLength(response);
  const answerTo = fillText(voice.language, words.answerTo, { number });
  const text = bytes >= cutBytes[mode] ? words.answerCut : words.answer;
  const title = fillText(voice.language, text, { bytes: counted(bytes, voice.language) });
  if (bytes <= inlineBytes)
    return html`<details id="${id}-${number}"><summary class="small">${title}</summary>${foreignText(response, answerTo)}</details>`;
  const href = urlOf('answer', { id, attempt: String(number) });
  return html`<p class="small"><a href="${href}">${title} <span class="hidden">(${answerTo})</span></a></p>`;
}

/** Formats a webhook request as it was sent over HTTP. */
function wireText({ method, url, headers, body }: AttemptRequest): string {
  const { pathname, protocol, search } = new URL(url);
  const target = protocol === 'inbox:' ? url : `${pathname}${search}`;
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${target} HTTP/1.1`, ...lines, '', body].join('\n');
}

/**
 * Shows the HTTP request of a test delivery attempt, or a link to the request if the list does not include
 * it.
 */
function requestPart(
  { request, number, error }: Attempt,
  delivery: ShownDelivery,
  visit: Visit,
): Html | null {
  const { mode, urlOf, voice } = visit;
  // The API does not show what a live attempt sent: its signature is meant for the endpoint alone.
  if (mode === 'live') return null;
  const words = voice.words.deliveries;
  const { language } = voice;
  const id = `${delivery.id}-${number}-request`;
  const ofAttempt = fillText(language, words.ofAttempt, { number });
  if (request === undefined) {
    const href = urlOf('event', { id: delivery.eventId, endpoint: delivery.endpointId });
    return html`<p class="small"><a href="${`${href}#${id}`}">${words.sent} <span class="hidden">${ofAttempt}</span></a></p>`;
  }
  if (request === null) return html`<p class="small muted">${words.requestUnknown}</p>`;
  const { changedAt, url } = request;
  const note = (text: Html | string): Html => html`<div class="small muted">${text}</div>`;
  return html`<details id="${id}"><summary class="small">${words.sent} <span class="hidden">${ofAttempt}</span></summary>
${changedAt === null ? null : note(fill(language, words.changed, { time: moment(changedAt, language) }))}
${error !== null && neverSent.has(error) ? note(words.neverSent) : null}
<div class="small">${request.method} <code>${nameOf(url)}</code></div>
${foreignText(wireText(request), fillText(language, words.requestOf, { number }))}
${
  url.startsWith('inbox:')
    ? null
    : html`${snippet(voice, fillText(language, words.curlOf, { number }), curlOf(request))}
${note(words.oldSignature)}`
}</details>`;
}

function attemptItem(attempt: Attempt, delivery: ShownDelivery, visit: Visit): Html {
  const { backend, voice } = visit;
  const words = voice.words.deliveries;
  const { number, error, httpStatus, at, durationMs } = attempt;
  const id = `${delivery.id}-${number}`;
  const name = fillText(voice.language, number <= backend.maxAttempts ? words.attempt : words.attemptBeyond, {
    number,
    of: backend.maxAttempts,
  });
  const { what, advice } = voice.words.failures[failureKind(attempt, voice.words)];
  const story =
    error === null
      ? html`<p>${words.succeeded}</p>`
      : html`<p>${what} <code class="muted">${nameOf(error)}</code></p>
<p class="advice"><b>${words.whatToDo}</b> ${advice}</p>`;
  return html`<li id="${id}-attempt"><span class="bead ${error === null ? 'good' : 'bad'}"></span><span class="rail"></span>
<p class="facts"><strong>${name}</strong> <span>${moment(at, voice.language)}</span> <span>${httpStatus === null ? words.noStatus : html`HTTP ${httpStatus}`}</span> <span>${durationMs} ms</span></p>
${story}
${requestPart(attempt, delivery, visit)}
${answerPart(attempt, delivery, visit)}</li>`;
}

function whatIsNext(
  { status, nextAttemptAt, attempts }: ShownDelivery,
  { backend, voice }: Visit,
): Html | string | null {
  const words = voice.words.deliveries;
  switch (status) {
    case 'pending':
      if (attempts.length === 0 || nextAttemptAt === null) return words.underWay;
      return fill(voice.language, words.next, {
        time: dueMoment(nextAttemptAt, backend.now(), voice.language),
      });
    case 'dropped':
      return words.dropped;
    case 'cancelled':
      return words.cancelled;
    case 'delivered':
      return null;
  }
}

function deliveryItem(delivery: ShownDelivery, context: DeliveryContext, visit: Visit): Html {
  const { urlOf, voice } = visit;
  const words = voice.words.deliveries;
  const { id, eventId, endpointId, status, createdAt, attempts } = delivery;
  const { href, title, detail, canRepeat } = context;
  const heading =
    href === null ? html`<strong>${nameOf(title)}</strong>` : html`<a href="${href}">${nameOf(title)}</a>`;
  const next = whatIsNext(delivery, visit);
  const badge = {
    ...{ state: deliveryState(delivery), failures: failedAttempts(delivery) },
    nextAttemptAt: delivery.nextAttemptAt,
  };
  return html`<li class="delivery" id="${id}">
<div class="head"><p class="to">${heading}<span>${nameOf(detail)} · ${moment(createdAt, voice.language)}</span></p>${deliveryBadge(badge, visit.backend, voice)}</div>
<ol class="timeline">${attempts.map((attempt) => attemptItem(attempt, delivery, visit))}${next === null ? null : html`<li id="${id}-next"><span class="bead next"></span><span class="rail"></span><p>${next}</p></li>`}</ol>
${canRepeat && visit.mayManage && status !== 'pending' ? html`<p><button class="compact" form="${againForm}" formaction="${urlOf('redeliver', { id: eventId })}" name="endpoint" value="${endpointId}">${words.again} <span class="hidden">${nameOf(title)}</span></button></p>` : null}
</li>`;
}

/** Shows a page of deliveries, each with its attempts in order of time, and the links to the pages around it. */
export function deliveryList(
  { data, nextCursor, previousCursor, count }: ListPage<ShownDelivery>,
  visit: Visit,
  {
    empty,
    contextOf,
    pageUrl,
  }: {
    readonly empty: string;
    readonly contextOf: (delivery: ShownDelivery) => DeliveryContext;
    /** Returns the URL of another page of the list. */
    readonly pageUrl: (place: { readonly [name: string]: string | null }) => string;
  },
): Html {
  if (data.length === 0) return emptyList(visit.voice.words.deliveries.emptyTitle, empty);
  const { head, links } = aroundPage(
    { query: visit.request.query, voice: visit.voice },
    {
      ...{ shown: data.length, size: deliveriesPerPage, count, next: nextCursor, previous: previousCursor },
      ...{ orders: timeOrders, urlOf: pageUrl },
    },
  );
  return html`${head}
<ul class="deliveries">${data.map((delivery) => deliveryItem(delivery, contextOf(delivery), visit))}</ul>
${links}`;
}
