import { createHmac } from 'node:crypto';
import type { SignedDelivery } from '../../src/index.ts';

/** Secret with which the tests sign webhooks, unless a test passes another one. */
export const secret = 'correct horse battery staple';

/** Time at which the tests sign webhooks, in Unix seconds. */
export const timestamp = 1_780_000_000;
export const now = timestamp * 1000;

export const event = {
  id: 'evt_01J8ZQ4N5T',
  type: 'webhook.test',
  createdAt: '2026-05-28T20:26:40.000Z',
  mode: 'test',
  data: { message: 'Café 🦉' },
} as const;

/** Makes a webhook that is signed according to the specification, without code of the package. */
export function deliveryOf(
  content: string | Uint8Array = JSON.stringify(event),
  { key = secret, at = timestamp, id = event.id as string, type = event.type as string } = {},
): SignedDelivery {
  const body = new Uint8Array(Buffer.from(content as string));
  return {
    body,
    headers: {
      'Content-Type': 'application/json',
      'X-SVC-Event': type,
      'X-SVC-EventId': id,
      'X-SVC-Timestamp': `${at}`,
      'X-SVC-Signature': createHmac('sha256', key).update(`${at}.`).update(body).digest('hex'),
      'X-SVC-Partner': 'acme',
      'X-SVC-Attempt': '1',
    },
  };
}
