import { setTimeout as delay } from 'node:timers/promises';
import { safeVerify } from '@ostiary/webhook-verifier';
import type { Core } from '../options/context.ts';
import type { InboxAnswer } from '../ports/inbox.ts';
import { newId } from '../secrets/random.ts';
import { type AttemptAnswer, failedAnswer } from './attempt-answer.ts';
import type { AttemptErrorClass } from './attempt-errors.ts';
import type { WebhookClient, WebhookRequest } from './client.ts';
import { type InboxBehaviour, inboxBehaviour, isInboxUrl } from './inbox-url.ts';
import type { Listeners } from './listeners.ts';
import { inboxHeaders } from './sent-headers.ts';

/** Number of requests that an inbox keeps. */
export const inboxSize = 50;

/** Waits of an inbox, in milliseconds. */
export interface InboxPatience {
  /** Longest time from a request to its answer. @defaultValue 10000 */
  readonly answerMs?: number;
  /** Interval at which the answer of a listener is looked for. @defaultValue 100 */
  readonly pollMs?: number;
}

/** Answer to a request whose signature is wrong, as a receiver that verifies signatures gives it. */
const refused: InboxAnswer = { httpStatus: 400, error: null, response: 'The signature is wrong.' };

/** Answers of inboxes that nobody listens to; `null`: there is no answer. */
const ownAnswers: Readonly<Record<InboxBehaviour, InboxAnswer | null>> = {
  success: { httpStatus: 200, error: null, response: 'The inbox received it.' },
  failure: { httpStatus: 500, error: null, response: 'This inbox fails on purpose.' },
  silence: null,
  listener: null,
};

/** Returns the result of an attempt from the answer of the inbox. */
function resultOf({ httpStatus, error, response }: InboxAnswer, durationMs: number): AttemptAnswer {
  if (httpStatus === null) return failedAnswer((error ?? 'internal') as AttemptErrorClass, durationMs);
  const ok = httpStatus >= 200 && httpStatus < 300;
  const reason = httpStatus >= 300 && httpStatus < 400 ? 'redirect' : 'status';
  return { ok, httpStatus, error: ok ? null : reason, response, durationMs: Math.round(durationMs) };
}

/**
 * Wraps the HTTP client, so that requests to an endpoint whose URL is an inbox are stored in this service
 * instead of sent. Signing, attempts and schedule stay those of every endpoint.
 */
export function withInboxes(
  { storage: { inbox }, random, clock, options: { prefix } }: Core,
  client: WebhookClient,
  listeners: Listeners,
  { answerMs = 10_000, pollMs = 100 }: InboxPatience = {},
): WebhookClient {
  /** Aborts attempts that wait for an answer. */
  let stop = new AbortController();
  let isClosed = false;

  /** Waits until a listener has answered the request, or the attempt is over. */
  async function awaitedAnswer(
    owner: Required<WebhookRequest>['endpoint'],
    id: string,
    startedAt: number,
  ): Promise<AttemptAnswer> {
    const { signal } = stop;
    const elapsed = () => performance.now() - startedAt;
    while (elapsed() < answerMs) {
      await delay(Math.min(pollMs, Math.max(0, answerMs - elapsed())), undefined, { signal }).catch(
        () => undefined,
      );
      if (signal.aborted) return failedAnswer('aborted', elapsed());
      const request = await inbox.find(owner, id);
      // Newer requests or the removal of the endpoint removed it.
      if (request === null) return failedAnswer('connection_reset', elapsed());
      if (request.answer !== null) return resultOf(request.answer, elapsed());
    }
    return failedAnswer('timeout', elapsed());
  }

  async function receive(
    { url, headers, body }: WebhookRequest,
    endpoint: Required<WebhookRequest>['endpoint'],
  ): Promise<AttemptAnswer> {
    const startedAt = performance.now();
    const elapsed = () => performance.now() - startedAt;
    const behaviour = inboxBehaviour(url);
    if (behaviour === null || endpoint.mode === 'live') return failedAnswer('target_refused', 0);
    if (behaviour === 'listener' && !(await listeners.isPresent(endpoint.id)))
      return failedAnswer('connection_refused', elapsed());
    const receivedAt = clock.now();
    const bytes = Buffer.from(body);
    const verified = await safeVerify(bytes, headers, { secret: endpoint.secret, prefix, now: receivedAt });
    const own = ownAnswers[behaviour];
    const answer = own !== null && !verified.ok ? refused : own;
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
    return answer === null ? await awaitedAnswer(endpoint, id, startedAt) : resultOf(answer, elapsed());
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
