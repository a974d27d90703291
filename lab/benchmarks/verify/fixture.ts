/** What every candidate verifies: the same event, under a signature of its own kind. */
import { bodyBytes, bodyOf, eventId } from '../queue/fixture.ts';

/** The names of the candidates. */
export const candidateNames = ['ostiary', 'limit', 'svix', 'standardwebhooks', 'stripe'] as const;

/** One of {@link candidateNames}. */
export type CandidateName = (typeof candidateNames)[number];

/** One delivery as a Node server hands it over. */
export interface Delivery {
  readonly body: Buffer;
  readonly headers: { readonly [name: string]: string };
}

export function eventBody(number: number): Buffer {
  return Buffer.from(bodyOf(eventId(number)));
}

/** What a server sees besides the headers of the signature. */
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
