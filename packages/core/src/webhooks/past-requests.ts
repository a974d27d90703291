import type { Core } from '../options/context.ts';
import type { AttemptRecord } from '../ports/deliveries.ts';
import type { EventRecord } from '../ports/events.ts';
import type { WebhookEndpointRecord } from '../ports/webhooks.ts';
import { iso } from '../time/clock.ts';
import { maxWaitMs } from './dispatcher.ts';
import { isInboxUrl } from './inbox-url.ts';
import { inboxHeaders, sentHeaders } from './sent-headers.ts';
import { signedAttempt } from './signing.ts';

/** The HTTP request of a past webhook attempt. */
export interface AttemptRequest {
  readonly method: 'POST';
  readonly url: string;
  /** Headers in the order in which they were sent. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /**
   * Time of the endpoint's last change, if that was after the attempt or less than a second before it, so
   * that URL and signature may differ from those that were sent. Otherwise `null`.
   */
  readonly changedAt: string | null;
}

/**
 * Creates a function that rebuilds the HTTP requests of past webhook attempts. They are not stored, because
 * they follow from event, endpoint and attempt. Only a stored event with the time of a stored attempt is ever
 * signed.
 *
 * @returns a function that returns `null` if the request cannot be rebuilt, for example because the endpoint's
 * secret cannot be decrypted
 */
export function pastRequests(
  { options: { prefix, logger, webhooks } }: Pick<Core, 'options'>,
  secretOf: (endpointId: string, sealed: string) => string,
) {
  const { standardHeaders } = webhooks;
  return async (
    { id: eventId, type: eventType, body, partner }: EventRecord,
    endpoint: WebhookEndpointRecord,
    { number: attempt, at }: Pick<AttemptRecord, 'number' | 'at'>,
  ): Promise<AttemptRequest | null> => {
    try {
      const secret = secretOf(endpoint.id, endpoint.sealedSecret);
      const facts = { body, eventId, eventType, partner, attempt, at, prefix, standardHeaders };
      const signed = await signedAttempt(secret, facts);
      const { url } = endpoint;
      // URL and secret date from the claim, which may have been this long before the attempt.
      const isChanged = endpoint.version > 1 && endpoint.updatedAt > at - maxWaitMs;
      return {
        method: 'POST',
        url,
        headers: isInboxUrl(url)
          ? inboxHeaders(signed.headers, signed.body.byteLength)
          : sentHeaders(new URL(url), signed.headers, signed.body.byteLength),
        body,
        changedAt: isChanged ? iso(endpoint.updatedAt) : null,
      };
    } catch (err) {
      logger.warn({ err, endpoint: endpoint.id }, 'the request of a webhook delivery cannot be made again');
      return null;
    }
  };
}
