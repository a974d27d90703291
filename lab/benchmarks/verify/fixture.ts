/** Deliveries for the compared verifiers: the same event, signed in the format of each verifier. */
import { bodyBytes, bodyOf, eventId } from '../queue/fixture.ts';

/** Names of the compared verifiers. */
export const candidateNames = ['ostiary', 'limit', 'svix', 'standardwebhooks', 'stripe'] as const;

/** Name of a compared verifier, from {@link candidateNames}. */
export type CandidateName = (typeof candidateNames)[number];

/** A webhook delivery as a Node server receives it. */
export interface Delivery {
  readonly body: Buffer;
  readonly headers: { readonly [name: string]: string };
}

export function eventBody(number: number): Buffer {
  return Buffer.from(bodyOf(eventId(number)));
}

/** Headers of a delivery other than the signature headers. */
export const otherHeaders = {
  host: 'receiver.example',
  'user-agent': 'Ostiary',
  accept: '*/*',
  'content-type': 'application/json',
  'content-length': `${bodyBytes}`,
  'accept-encoding': 'identity',
  'x-forwarded-for': '203.0.113.7',
  'x-forwarded-proto': 'https',
  connection: 'keep-alive',
};
