import { type SignedDelivery, signWebhook } from '@ostiary/webhook-verifier';
import type { ClaimedDelivery } from '../ports/deliveries.ts';
import { standardHeaders } from './standard-webhooks.ts';

/** Settings for the signature headers of webhooks. */
export interface SignatureOptions {
  /** The service's prefix in header names. */
  readonly prefix: string;
  /** True if attempts also have the headers of Standard Webhooks. */
  readonly standardHeaders: boolean;
}

/** Data of a webhook attempt from which its request is built, in addition to the endpoint. */
export interface AttemptFacts
  extends SignatureOptions,
    Pick<ClaimedDelivery, 'body' | 'eventId' | 'eventType' | 'partner' | 'attempt'> {
  /** Start of the attempt, in milliseconds since the Unix epoch. */
  readonly at: number;
}

/** Builds the signed HTTP request of a webhook attempt. The same input always gives the same bytes. */
export async function signedAttempt(
  secret: string,
  { body, eventId, eventType, partner, attempt, at, prefix, standardHeaders: isStandard }: AttemptFacts,
): Promise<SignedDelivery> {
  const timestamp = Math.floor(at / 1000);
  // Encode once for signing and sending, with Node's quicker encoder.
  const bytes = Buffer.from(body);
  const signed = await signWebhook(bytes, {
    ...{ secret, id: eventId, type: eventType, partner, attempt, prefix },
    timestamp,
  });
  if (!isStandard) return signed;
  const added = standardHeaders(secret, { id: eventId, timestamp, body: bytes });
  return { headers: { ...signed.headers, ...added }, body: signed.body };
}
