import { setTimeout as delay } from 'node:timers/promises';
import { PartnerError } from '../errors.ts';
import type { Core } from '../options/context.ts';
import type { InboxAnswer, InboxRequest } from '../ports/inbox.ts';
import type { Owner } from '../ports/partners.ts';
import { findEndpoint } from './endpoints.ts';
import { answerMs } from './inbox.ts';
import { listenUrl } from './inbox-url.ts';
import type { Listeners } from './listeners.ts';

/** Interval at which a waiting call queries the database for inbox requests, in milliseconds. */
const pollMs = 250;

/** Maximum number of inbox requests that one call returns. */
const takenAtOnce = 20;

/** A call of a program that waits for requests of its inbox. */
export interface ListenCall extends Owner {
  readonly endpointId: string;
  /** Longest time to wait for a first request, in milliseconds; 0 does not wait. */
  readonly waitMs: number;
  /** Checks whether the caller has disconnected, or the server is closing. */
  readonly isOver: () => boolean;
  /** Checks that the caller's API key is still valid. @throws PartnerError if it is not */
  readonly readmit: () => Promise<void>;
}

/** Creates the operations of programs that take the requests of an inbox and respond to them. */
export function createListening(core: Core, listeners: Listeners) {
  const { storage, clock } = core;
  /**
   * Calls that wait for inbox requests in this process, by endpoint. A later call for the same endpoint ends
   * the earlier call.
   */
  const waiting = new Map<string, symbol>();

  return {
    /**
     * Takes the requests of an inbox that wait for a response, at most {@link takenAtOnce}. If there are
     * none, waits for the first one, at most for `waitMs`; returns none if none arrives.
     * @throws PartnerError `not_found` for an unknown endpoint, `invalid_request` for one that is not for
     * listeners, or the error of `readmit`
     */
    async take({ partner, mode, endpointId, waitMs, isOver, readmit }: ListenCall): Promise<InboxRequest[]> {
      const owner = { partner, mode };
      if ((await findEndpoint(core, owner, endpointId)).url !== listenUrl) {
        throw new PartnerError('invalid_request', {
          description: `Only endpoints with the URL ${listenUrl} hand their requests out.`,
        });
      }
      const call = Symbol(endpointId);
      waiting.set(endpointId, call);
      const endsAt = performance.now() + waitMs;
      let calledAt = await listeners.lastCallAt(endpointId);
      try {
        for (;;) {
          calledAt = await listeners.called(endpointId, calledAt);
          // Older requests without a response are those of workers that crashed.
          const since = clock.now() - answerMs;
          const taken = await storage.inbox.take({ ...owner, endpointId, since, limit: takenAtOnce });
          const isLast = waiting.get(endpointId) !== call || performance.now() >= endsAt || isOver();
          if (taken.length > 0 || isLast) return taken;
          await delay(pollMs);
          // A key that is revoked meanwhile gets no further request.
          await readmit();
        }
      } finally {
        if (waiting.get(endpointId) === call) waiting.delete(endpointId);
      }
    },

    /**
     * Stores the response of a partner's program to an inbox request that it took. Returns `false` if the
     * request is gone, was not taken, or has a response already.
     */
    answer: (owner: Owner, id: string, answer: InboxAnswer): Promise<boolean> =>
      storage.inbox.answer(owner, id, answer),
  };
}
