import type { Core } from '../options/context.ts';
import type { AttemptRecord } from '../ports/deliveries.ts';
import type { EventRecord } from '../ports/events.ts';
import type { WebhookEndpointRecord } from '../ports/webhooks.ts';
import { iso } from '../time/clock.ts';
import { maxWaitMs } from './dispatcher.ts';
import { sentHeaders } from './sent-headers.ts';
import { signedAttempt } from './signing.ts';

/** The request of an attempt, as it was sent. */
export interface AttemptRequest {
  readonly method: 'POST';
  readonly url: string;
  /** In the order of the wire. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /**
   * Time of a change of the endpoint after the attempt. URL and signature may then differ from those that
   * were sent. `null`: no change.
   */
  readonly changedAt: string | null;
}

/**
 * Makes the requests of past attempts again: nothing of them is stored, because they follow from the event, the endpoint and the
 * attempt. What is signed is always a stored event, at the time of a stored attempt.
 *
 * @returns a function that answers `null` where the secret cannot be opened
 */
export function pastRequests(
  { options: { prefix, logger } }: Pick<Core, 'options'>,
  secretOf: (endpointId: string, sealed: string) => string,
) {
  return async (
    { id: eventId, type: eventType, body, partner }: EventRecord,
    endpoint: WebhookEndpointRecord,
    { number: attempt, at }: Pick<AttemptRecord, 'number' | 'at'>,
  ): Promise<AttemptRequest | null> => {
    try {
      const secret = secretOf(endpoint.id, endpoint.sealedSecret);
      const facts = { body, eventId, eventType, partner, attempt, at, prefix };
      const signed = await signedAttempt(secret, facts);
      // URL and secret are those of the claim, which may have been so long before the attempt.
      const isChanged = endpoint.version > 1 && endpoint.updatedAt > at - maxWaitMs;
      return {
        method: 'POST',
        url: endpoint.url,
        headers: sentHeaders(new URL(endpoint.url), signed.headers, signed.body.byteLength),
        body,
        changedAt: isChanged ? iso(endpoint.updatedAt) : null,
      };
    } catch (err) {
      logger.warn({ err, endpoint: endpoint.id }, 'the request of a webhook delivery cannot be made again');
      return null;
    }
  };
}
