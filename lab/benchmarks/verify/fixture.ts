/** Deliveries for the candidates: the same event, with each candidate's own kind of signature. */
import { bodyBytes, bodyOf, eventId } from '../queue/fixture.ts';

/** Names of the candidates. */
export const candidateNames = ['ostiary', 'limit', 'svix', 'standardwebhooks', 'stripe'] as const;

/** Name of a candidate, from {@link candidateNames}. */
export type CandidateName = (typeof candidateNames)[number];

/** A delivery as a Node server receives it. */
export interface Delivery {
  readonly body: Buffer;
  readonly headers: { readonly [name: string]: string };
}

export function eventBody(number: number): Buffer {
  return Buffer.from(bodyOf(eventId(number)));
}

/** Headers of the request other than those of the signature. */
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
