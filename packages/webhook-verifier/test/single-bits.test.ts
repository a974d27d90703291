import { describe, expect, it } from 'vitest';
import { safeVerify, type WebhookHeaders } from '../src/index.ts';
import { deliveryOf, now, secret } from './support/delivery.ts';

function flip(bytes: Uint8Array, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}

/** Inverts a bit of a header value, in which each character is a byte as an HTTP server would decode it. */
const flipText = (text: string, bit: number): string =>
  flip(Buffer.from(text, 'latin1'), bit).toString('latin1');

async function accepted(body: Uint8Array, headers: WebhookHeaders, key: string): Promise<boolean> {
  return (await safeVerify(body, headers, { secret: key, now })).ok;
}

const { body, headers } = deliveryOf();
const signed = ['X-SVC-Signature', 'X-SVC-Timestamp', 'X-SVC-EventId', 'X-SVC-Event'] as const;

/**
 * Signed parts of a webhook: the number of bits, and a function that checks whether the webhook is still
 * accepted after inverting one bit.
 */
const places: readonly (readonly [string, number, (bit: number) => Promise<boolean>])[] = [
  ['the body', body.length * 8, (bit) => accepted(flip(body, bit), headers, secret)],
  // Only seven bits per character: the eighth would make it non-ASCII.
  [
    'the secret',
    secret.length * 7,
    (bit) => accepted(body, headers, flipText(secret, Math.floor(bit / 7) * 8 + (bit % 7))),
  ],
  ...signed.map((name): (typeof places)[number] => {
    const value = headers[name] ?? '';
    return [
      name,
      value.length * 8,
      (bit) => accepted(body, { ...headers, [name]: flipText(value, bit) }, secret),
    ];
  }),
];

describe('a change of a single bit', () => {
  it.each(places)('anywhere in %s is refused', async (_name, bits, isAccepted) => {
    for (let bit = 0; bit < bits; bit += 1) expect(await isAccepted(bit)).toBe(false);
  });
});
