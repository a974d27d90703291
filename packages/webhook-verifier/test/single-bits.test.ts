import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { safeVerify, type WebhookHeaders } from '../src/index.ts';
import { deliveryOf, event, now, secret } from './support/delivery.ts';

async function accepted(body: Uint8Array, headers: WebhookHeaders, key: string): Promise<boolean> {
  const result = await safeVerify(body, headers, { secret: key, now });
  return result.ok;
}

function flip(bytes: Uint8Array, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}

/** Each header as an HTTP server would decode it: a byte a character. */
const flipText = (text: string, bit: number): string =>
  flip(Buffer.from(text, 'latin1'), bit).toString('latin1');

describe('a change of a single bit', () => {
  const { body, headers } = deliveryOf();

  it.each(['X-SVC-Signature', 'X-SVC-Timestamp', 'X-SVC-EventId', 'X-SVC-Event'])(
    'anywhere in %s is refused',
    async (name) => {
      const value = headers[name] ?? '';
      for (let bit = 0; bit < value.length * 8; bit += 1) {
        expect(await accepted(body, { ...headers, [name]: flipText(value, bit) }, secret)).toBe(false);
      }
    },
  );

  it('anywhere in the body is refused', async () => {
    for (let bit = 0; bit < body.length * 8; bit += 1) {
      expect(await accepted(flip(body, bit), headers, secret)).toBe(false);
    }
  });

  it('anywhere in the secret is refused', async () => {
    for (let bit = 0; bit < secret.length * 7; bit += 1) {
      const changed = flipText(secret, Math.floor(bit / 7) * 8 + (bit % 7));
      expect(await accepted(body, headers, changed)).toBe(false);
    }
  });

  it('is refused whatever the event and the secret are, and the unchanged delivery is accepted', async () => {
    const anyEvent = fc.record({
      id: fc.stringMatching(/^evt_[A-Za-z0-9]{1,40}$/),
      type: fc.stringMatching(/^[a-z]{1,20}\.[a-z]{1,20}$/),
      createdAt: fc.constant(event.createdAt),
      mode: fc.constantFrom('live', 'test'),
      data: fc.jsonValue(),
    });
    const anySecret = fc
      .string({ unit: 'grapheme', minLength: 20, maxLength: 100 })
      .filter((text) => /\w/.test(text));
    await fc.assert(
      fc.asyncProperty(anyEvent, anySecret, fc.nat(), fc.nat(), async (sent, key, where, place) => {
        const signed = deliveryOf(JSON.stringify(sent), { key, id: sent.id, type: sent.type });
        expect(await accepted(signed.body, signed.headers, key)).toBe(true);
        expect(await accepted(flip(signed.body, where % (signed.body.length * 8)), signed.headers, key)).toBe(
          false,
        );
        const name = ['X-SVC-Signature', 'X-SVC-Timestamp', 'X-SVC-EventId', 'X-SVC-Event'][place % 4] ?? '';
        const value = signed.headers[name] ?? '';
        const changed = { ...signed.headers, [name]: flipText(value, where % (value.length * 8)) };
        expect(await accepted(signed.body, changed, key)).toBe(false);
        const characters = Array.from(key);
        const at = where % characters.length;
        characters[at] = String.fromCodePoint((characters[at]?.codePointAt(0) ?? 0) ^ 1);
        expect(await accepted(signed.body, signed.headers, characters.join(''))).toBe(false);
      }),
      { numRuns: 300 },
    );
  });
});
