import { setTimeout as delay } from 'node:timers/promises';
import { safeVerify } from '@ostiary/webhook-verifier';
import type { Core } from '../options/context.ts';
import type { InboxAnswer, InboxStore } from '../ports/inbox.ts';
import type { Owner } from '../ports/partners.ts';
import { newId } from '../secrets/random.ts';
import { type AttemptAnswer, failedAnswer } from './attempt-answer.ts';
import type { AttemptErrorClass } from './attempt-errors.ts';
import type { WebhookClient, WebhookRequest } from './http-client.ts';
import { type InboxBehaviour, inboxBehaviour, isInboxUrl } from './inbox-url.ts';
import type { Listeners } from './listeners.ts';
import { inboxHeaders } from './sent-headers.ts';

/** Maximum number of requests that an inbox keeps. A new request beyond it removes the oldest one. */
export const inboxSize = 50;

/** Longest time from a request in an inbox to its response, in milliseconds. No attempt waits longer. */
export const answerMs = 10_000;

/**
 * Shortest interval at which the database is queried for the response of a partner's program, in
 * milliseconds.
 */
const pollMs = 100;

/**
 * Response of the inboxes `success` and `failure` to a request whose signature is wrong, as a receiver that
 * verifies signatures gives it.
 */
const refused: InboxAnswer = { httpStatus: 400, error: null, response: 'The signature is wrong.' };

/** Responses that an inbox gives by itself; `null` if it gives none. */
const fixedAnswers: Readonly<Record<InboxBehaviour, InboxAnswer | null>> = {
  success: { httpStatus: 200, error: null, response: 'The inbox received it.' },
  failure: { httpStatus: 500, error: null, response: 'This inbox fails on purpose.' },
  silence: null,
  listener: null,
};

/** Converts the response of an inbox to the result of a webhook attempt. */
function resultOf({ httpStatus, error, response }: InboxAnswer, durationMs: number): AttemptAnswer {
  if (httpStatus === null) return failedAnswer((error ?? 'internal') as AttemptErrorClass, durationMs);
  const ok = httpStatus >= 200 && httpStatus < 300;
  const reason = httpStatus >= 300 && httpStatus < 400 ? 'redirect' : 'status';
  return { ok, httpStatus, error: ok ? null : reason, response, durationMs: Math.round(durationMs) };
}

/**
 * Ends an attempt that got no response, so that no later response counts. A response that has just arrived is
 * the result.
 */
async function endAttempt(
  inbox: InboxStore,
  sent: Owner & { readonly id: string },
  error: 'timeout' | 'aborted',
  durationMs: number,
): Promise<AttemptAnswer> {
  if (await inbox.end(sent, sent.id, { httpStatus: null, error, response: null }))
    return failedAnswer(error, durationMs);
  const answer = (await inbox.find(sent, sent.id))?.answer ?? null;
  return answer === null ? failedAnswer(error, durationMs) : resultOf(answer, durationMs);
}

/**
 * Wraps the HTTP client of webhooks, so that requests to an endpoint whose URL is an inbox are stored in this
 * service instead of sent. Signing, attempts and schedule are the same as for every endpoint.
 */
export function withInboxes(
  { storage: { inbox }, random, clock, options: { prefix } }: Core,
  client: WebhookClient,
  listeners: Listeners,
): WebhookClient {
  /** Controller that aborts attempts which wait for a response. */
  let stop = new AbortController();
  let isClosed = false;

  /**
   * Waits for a time in milliseconds. Returns `true` after that time, or `false` at once if the attempt is
   * aborted.
   */
  async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
    await delay(Math.max(0, ms), undefined, { signal }).catch(() => undefined);
    return !signal.aborted;
  }

  /** Waits until a partner's program has responded to the request, or the attempt is over. */
  async function awaitedAnswer(
    sent: Owner & { readonly id: string },
    startedAt: number,
    signal: AbortSignal,
  ): Promise<AttemptAnswer> {
    const elapsed = () => performance.now() - startedAt;
    while (elapsed() < answerMs) {
      // Most responses come soon: poll less often the longer the attempt waits.
      const pause = Math.min(Math.max(pollMs, elapsed() / 10), answerMs - elapsed());
      if (!(await waited(pause, signal))) return endAttempt(inbox, sent, 'aborted', elapsed());
      const request = await inbox.find(sent, sent.id);
      // Newer requests or the removal of the endpoint removed it.
      if (request === null) return failedAnswer('connection_reset', elapsed());
      if (request.answer !== null) return resultOf(request.answer, elapsed());
    }
    return endAttempt(inbox, sent, 'timeout', elapsed());
  }

  async function receive(
    { url, headers, body }: WebhookRequest,
    endpoint: Required<WebhookRequest>['endpoint'],
  ): Promise<AttemptAnswer> {
    const { signal } = stop;
    const startedAt = performance.now();
    const elapsed = () => performance.now() - startedAt;
    const behaviour = inboxBehaviour(url);
    if (behaviour === null || endpoint.mode === 'live') return failedAnswer('target_refused', 0);
    if (behaviour === 'listener' && !(await listeners.isPresent(endpoint.id)))
      return failedAnswer('connection_refused', elapsed());
    const receivedAt = clock.now();
    const bytes = Buffer.from(body);
    const verified = await safeVerify(bytes, headers, { secret: endpoint.secret, prefix, now: receivedAt });
    const fixed = fixedAnswers[behaviour];
    const answer = fixed !== null && !verified.ok ? refused : fixed;
    const id = newId('in', random, receivedAt);
    const { partner, mode } = endpoint;
    await inbox.add(
      {
        ...{ id, partner, mode, endpointId: endpoint.id, receivedAt, answer },
        headers: inboxHeaders(headers, bytes.byteLength),
        body: bytes.toString(),
        signatureError: verified.ok ? null : verified.error.code,
      },
      inboxSize,
    );
    if (answer !== null) return resultOf(answer, elapsed());
    const sent = { partner, mode, id };
    if (behaviour === 'listener') return await awaitedAnswer(sent, startedAt, signal);
    const isOver = await waited(answerMs - elapsed(), signal);
    return endAttempt(inbox, sent, isOver ? 'timeout' : 'aborted', elapsed());
  }

  return {
    async post(request) {
      const { url, endpoint } = request;
      if (endpoint === undefined || !isInboxUrl(url)) return client.post(request);
      return isClosed ? failedAnswer('aborted', 0) : receive(request, endpoint);
    },
    abort() {
      stop.abort();
      stop = new AbortController();
      client.abort();
    },
    async close() {
      isClosed = true;
      stop.abort();
      await client.close();
    },
  };
}
