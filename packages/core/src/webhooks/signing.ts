import { type SignedDelivery, signWebhook } from '@ostiary/webhook-verifier';
import type { ClaimedDelivery } from '../ports/deliveries.ts';

/** Data of an attempt from which its request is built, besides the endpoint. */
export interface AttemptFacts
  extends Pick<ClaimedDelivery, 'body' | 'eventId' | 'eventType' | 'partner' | 'attempt'> {
  /** Start of the attempt, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** The service's prefix in header names. */
  readonly prefix: string;
}

/** Builds the signed request of an attempt. The same input always gives the same bytes. */
export function signedAttempt(
  secret: string,
  { body, eventId, eventType, partner, attempt, at, prefix }: AttemptFacts,
): Promise<SignedDelivery> {
  // Encode once for signing and sending, with Node's quicker encoder.
  return signWebhook(Buffer.from(body), {
    ...{ secret, id: eventId, type: eventType, partner, attempt, prefix },
    timestamp: Math.floor(at / 1000),
  });
}
