import { setTimeout as delay } from 'node:timers/promises';
import {
  type InboxRequest,
  type OstiaryError,
  type OstiaryPartner,
  OstiaryError as PartnerApiError,
} from '@ostiary/client-sdk';
import { forward, type LocalAnswer } from './forward.ts';

/**
 * Seconds for which the service waits before it responds to a call that finds no request. Proxies end calls
 * after 60 seconds.
 */
const waitSeconds = 20;

/** Time limit of a call, in milliseconds: longer than the service waits before it responds. */
const timeout = 30_000;

/**
 * Shortest and longest pause after a failed call of the service, in milliseconds. The pause is longer if the
 * service asks for more (`Retry-After`).
 */
const pauses = { first: 500, longest: 15_000 };

/** Longest time of a timer of Node, in milliseconds. A timer with more ends after 1 ms. */
const longestTimer = 2 ** 31 - 1;

/** Functions that the listener calls when something has happened. */
export interface ListenerEvents {
  /**
   * Function that is called once, after the first successful call: from then on the service hands webhook
   * requests to this program.
   */
  ready(): void;
  /**
   * Function that is called after a request was forwarded. @param counted - true if the local server's
   * response became the result of the delivery attempt
   */
  forwarded(request: InboxRequest, answer: LocalAnswer, counted: boolean): void;
  /**
   * Function that is called when the service cannot be reached or is busy, and not again until a call has
   * succeeded in between.
   */
  lost(error: OstiaryError): void;
  /** Function that is called when the service can be reached again after a failure. */
  found(): void;
}

/** Checks whether a failed call may succeed later: the service cannot be reached, restarts or is busy. */
const isPassing = ({ code, status }: OstiaryError): boolean =>
  status === null || status >= 500 || status === 429 || code === 'unexpected_answer';

/**
 * Takes the requests of an endpoint, forwards each to the local server and answers with its response, until
 * the signal aborts. While the service cannot be reached, waits and tries again.
 * @throws OstiaryError for a key that was revoked or an endpoint that was removed
 */
export async function listen(
  ostiary: OstiaryPartner,
  { endpointId, to, signal }: { readonly endpointId: string; readonly to: URL; readonly signal: AbortSignal },
  events: ListenerEvents,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  let isReady = false;
  let failures = 0;

  async function handle(request: InboxRequest): Promise<void> {
    const answer = await forward(request, to);
    const { durationMs: _, ...result } = answer;
    // If the answer cannot be sent to the service, the delivery attempt ends with its time-out.
    const counted = await ostiary.sandbox.answerRequest(request.id, result, { totalTimeout: 10_000 }).then(
      (taken) => taken.counted,
      () => false,
    );
    events.forwarded(request, answer, counted);
  }

  while (!signal.aborted) {
    try {
      const call = { timeout, maxRetries: 0, signal };
      // The first call does not wait: it registers this program as the listener of the endpoint. Nor does a call
      // after a failure, whose answer shows that the service is back.
      const wait = { waitSeconds: isReady && failures === 0 ? waitSeconds : 0 };
      const { data } = await ostiary.sandbox.takeRequests(endpointId, wait, call);
      if (failures > 0) events.found();
      failures = 0;
      if (!isReady) events.ready();
      isReady = true;
      for (const request of data) {
        const handled = handle(request).finally(() => underWay.delete(handled));
        underWay.add(handled);
      }
    } catch (error) {
      if (signal.aborted) break;
      if (!(error instanceof PartnerApiError) || !isPassing(error)) throw error;
      if (failures === 0) events.lost(error);
      const pause = Math.min(pauses.longest, pauses.first * 2 ** failures);
      failures += 1;
      const asked = Math.min(longestTimer, error.retryAfter ?? 0);
      await delay(Math.max(pause, asked), undefined, { signal }).catch(() => undefined);
    }
  }
  await Promise.all(underWay);
}
