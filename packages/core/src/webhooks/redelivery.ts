import type { Act } from '../audit/acts.ts';
import { PartnerError } from '../errors.ts';
import {
  claimOf,
  earlierAnswer,
  type RepeatableAnswer,
  type RepeatableRequest,
} from '../idempotency/repeatable-request.ts';
import type { Core } from '../options/context.ts';
import type { Redelivery } from '../ports/deliveries.ts';
import type { StoredAnswer } from '../ports/idempotency.ts';
import { newId } from '../secrets/random.ts';
import { iso } from '../time/clock.ts';
import { disabledEndpoint, unknownEndpoint } from './endpoints.ts';
import { deliveryView } from './views.ts';

/**
 * Maximum number of deliveries that one call of `recover` queues. A repeated call continues with the rest.
 */
export const maxRecovered = 1_000;

/** Creates the operations that deliver past events again. */
export function createRedeliveries(core: Core) {
  const { deliveries } = core.storage;

  /**
   * Returns the arguments that both redelivery operations pass to the storage: an id prefix for new
   * deliveries, and the claim of the `Idempotency-Key`.
   */
  const common = (request: RepeatableRequest) => ({
    deliveryId: newId('dl', core.random, request.now),
    idempotency: claimOf(request),
  });

  async function answerOf(request: RepeatableRequest, result: Redelivery): Promise<RepeatableAnswer> {
    switch (result.outcome) {
      case 'queued':
        core.notifyWorkers('deliveries');
        return { ...result.answer, replayed: false };
      case 'unknown_event':
        throw new PartnerError('not_found', { description: 'There is no such event.' });
      case 'unknown_endpoint':
        throw unknownEndpoint();
      case 'disabled_endpoint':
        throw disabledEndpoint();
      default:
        return earlierAnswer(core, request, result);
    }
  }

  const json = (body: unknown): StoredAnswer => ({ status: 200, body: JSON.stringify(body) });

  return {
    /**
     * Delivers an event again, to one endpoint or to all that match its type now.
     * @throws PartnerError `not_found` for an unknown event or endpoint, `invalid_request` for a disabled
     * endpoint, `idempotency_conflict` if the `Idempotency-Key` was used with another payload
     */
    async redeliver(
      request: RepeatableRequest & {
        readonly eventId: string;
        readonly endpointId: string | null;
        readonly act: Act | null;
      },
    ): Promise<RepeatableAnswer> {
      const { partner, mode, now, eventId, endpointId, act } = request;
      const result = await deliveries.redeliver({
        ...common(request),
        partner,
        mode,
        now,
        eventId,
        endpointId,
        answer: (made) => json({ data: made.map(deliveryView) }),
        ...(act && { audit: act('event.redeliver', `event:${eventId}`, { partner, mode, endpointId }) }),
      });
      return answerOf(request, result);
    },

    /**
     * Delivers again the events that were dropped for an endpoint at or after `since` (milliseconds since the
     * Unix epoch) and not delivered or queued there again later, at most {@link maxRecovered}.
     * @throws PartnerError `not_found` for an unknown endpoint, `invalid_request` for a disabled one,
     * `idempotency_conflict` if the `Idempotency-Key` was used with another payload
     */
    async recover(
      request: RepeatableRequest & {
        readonly endpointId: string;
        readonly since: number;
        readonly act: Act | null;
      },
    ): Promise<RepeatableAnswer> {
      const { partner, mode, now, endpointId, since, act } = request;
      const result = await deliveries.recover({
        ...common(request),
        partner,
        mode,
        now,
        endpointId,
        since,
        limit: maxRecovered,
        answer: (count) => json({ queued: count }),
        ...(act && {
          audit: act('endpoint.recover', `endpoint:${endpointId}`, { partner, mode, since: iso(since) }),
        }),
      });
      return answerOf(request, result);
    },
  };
}
