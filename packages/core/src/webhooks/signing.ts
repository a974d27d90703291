import { type SignedDelivery, signWebhook } from '@ostiary/webhook-verifier';
import type { ClaimedDelivery } from '../ports/deliveries.ts';

/** Parts of an attempt's request, besides the endpoint. */
export interface AttemptFacts
  extends Pick<ClaimedDelivery, 'body' | 'eventId' | 'eventType' | 'partner' | 'attempt'> {
  /** Start of the attempt, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** The wire prefix. */
  readonly prefix: string;
}

/** Signs an attempt: the same bytes for the same facts and secret, whenever it is asked for. */
export function signedAttempt(
  secret: string,
  { body, eventId, eventType, partner, attempt, at, prefix }: AttemptFacts,
): Promise<SignedDelivery> {
  // As bytes: signed and sent they are encoded once, and by Node's quicker way.
  return signWebhook(Buffer.from(body), {
    ...{ secret, id: eventId, type: eventType, partner, attempt, prefix },
    timestamp: Math.floor(at / 1000),
  });
}
