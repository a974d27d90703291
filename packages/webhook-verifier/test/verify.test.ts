import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import {
  safeVerify,
  signWebhook,
  tamper,
  type VerifyOptions,
  verify,
  type WebhookHeaders,
  webhookErrorCodes,
} from '../src/index.ts';
import { deliveryOf, event, now, secret, timestamp } from './support/delivery.ts';

// Tests that need Node, or deliveries that were signed without this package. Tests for every runtime are in
// `cases/`.

const { body, headers } = deliveryOf();
const options = { secret, now };

async function codeOf(rawBody: unknown, given: WebhookHeaders = headers, more: VerifyOptions = options) {
  const result = await safeVerify(rawBody as string, given, more);
  return result.ok ? 'accepted' : result.error.code;
}

describe('a body', () => {
  it.each([
    ['a Buffer', Buffer.from(body)],
    ['a Uint8Array of another realm', runInNewContext('Uint8Array.from(bytes)', { bytes: [...body] })],
    [
      'an ArrayBuffer of another realm',
      runInNewContext('Uint8Array.from(bytes).buffer', { bytes: [...body] }),
    ],
  ])('may be %s', async (_name, rawBody) => {
    expect(await codeOf(rawBody)).toBe('accepted');
  });

  it('that is still base64, as on Lambda, causes an error that says so', async () => {
    const encoded = Buffer.from(body).toString('base64');
    for (const given of [encoded, Buffer.from(encoded)]) {
      const result = await safeVerify(given, headers, options);
      expect(result).toMatchObject({ ok: false, error: { code: 'signature_mismatch' } });
      expect(result.ok ? '' : result.error.message).toContain('the body is base64');
    }
    expect(await codeOf(Buffer.from(encoded, 'base64'))).toBe('accepted');
  });

  it('with a secret that ends with a line break causes an error that mentions it', async () => {
    const given = await safeVerify(body, headers, { ...options, secret: `${options.secret}\n` });
    expect(given.ok ? '' : given.error.message).toContain('another secret, a newline in it');
  });

  it('is not changed', async () => {
    const copy = Buffer.from(body);
    await verify(copy, headers, options);
    expect(copy).toEqual(Buffer.from(body));
  });
});

describe('headers', () => {
  it('are refused by name if one is missing', async () => {
    const needed = Object.keys(headers).filter((each) => each.startsWith('X-') && each !== 'X-SVC-Attempt');
    expect(needed).toHaveLength(5);
    for (const name of needed) {
      const result = await safeVerify(body, { ...headers, [name]: undefined }, options);
      expect(result.ok ? '' : result.error.message).toContain(`${name} is missing`);
    }
  });

  it('with 100,000 signatures are refused without looking at them', async () => {
    const signature = headers['X-SVC-Signature'] ?? '';
    const many = Array.from({ length: 100_000 }, () => signature);
    const started = process.cpuUsage();
    expect(await codeOf(body, { ...headers, 'X-SVC-Signature': many.join(', ') })).toBe('malformed_header');
    expect(await codeOf(body, { ...headers, 'X-SVC-Signature': many })).toBe('malformed_header');
    const hex = 'a'.repeat(6_400_000);
    for (const name of Object.keys(headers)) {
      if (name !== 'Content-Type')
        expect(await codeOf(body, { ...headers, [name]: hex })).toBe('malformed_header');
    }
    // Processor time, because other programs may keep this one waiting.
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(500);
  });
});

describe('the age', () => {
  it('is measured by the clock of the machine unless a time is given', async () => {
    expect(await codeOf(body, headers, { secret })).toBe('timestamp_too_old');
    vi.useFakeTimers({ now });
    try {
      expect(await codeOf(body, headers, { secret })).toBe('accepted');
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('secrets', () => {
  it('work in thousands, too', async () => {
    for (let number = 0; number < 2_100; number += 1) {
      const key = `a secret for the endpoint ${number}`;
      expect(await codeOf(body, deliveryOf(body, { key }).headers, { secret: key, now })).toBe('accepted');
    }
    expect(await codeOf(body)).toBe('accepted');
  });
});

describe('a refusal', () => {
  it('never contains the secret, the right signature or the body', async () => {
    const signature = headers['X-SVC-Signature'] ?? '';
    const changed = Buffer.from(body).fill(120, 30, 31);
    const broken = deliveryOf('{"card":"4242 4242');
    const refusals = [
      await safeVerify(changed, headers, options),
      await safeVerify(broken.body, broken.headers, options),
      await safeVerify(body, { ...headers, 'X-SVC-Signature': 'f'.repeat(64) }, options),
      await safeVerify(body, { ...headers, 'X-SVC-EventId': 'evt_2' }, options),
    ];
    const rightSignature = deliveryOf(changed).headers['X-SVC-Signature'] ?? '';
    for (const refusal of refusals) {
      if (refusal.ok) throw new Error('accepted');
      const { message, stack = '', cause } = refusal.error;
      expect(cause).toBeUndefined();
      for (const told of [secret, signature, '4242', 'Café', rightSignature]) {
        expect(message + stack + JSON.stringify(refusal.error)).not.toContain(told);
      }
    }
  });
});

describe('a signed delivery', () => {
  it('has each header of the specification', async () => {
    const { id, type } = event;
    const delivery = await signWebhook(JSON.stringify(event), {
      secret,
      id,
      type,
      timestamp,
      partner: 'acme',
    });
    expect(delivery).toEqual(deliveryOf());
    expect(Object.keys(delivery.headers)).toEqual(Object.keys(headers));
  });
});

// `cases/` checks in every runtime the error code of each refusal.
describe('tampered copies of a delivery', () => {
  it('have unique names, differ from the delivery, and do not change it', () => {
    const delivery = deliveryOf();
    const copies = tamper(delivery);
    expect(new Set(copies.map(({ name }) => name)).size).toBe(copies.length);
    for (const copy of copies) expect([copy.headers, copy.body]).not.toEqual([headers, body]);
    expect(delivery).toEqual(deliveryOf());
  });

  it('need the prefix of the delivery', () => {
    expect(() => tamper(deliveryOf(), { prefix: 'acme' })).toThrow(TypeError);
  });
});

describe('codes of errors', () => {
  it('are all in the documentation, and no others', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/webhook-verifier.md'), 'utf8');
    const section = page.slice(page.indexOf('## Codes'), page.indexOf('## Changing the secret'));
    const documented = Array.from(section.matchAll(/^\| (`.*?`) \|/gm), ([, cell = '']) => cell)
      .flatMap((cell) => cell.split(', '))
      .map((code) => code.replaceAll('`', ''));
    expect(documented.sort()).toEqual([...webhookErrorCodes].sort());
  });
});
