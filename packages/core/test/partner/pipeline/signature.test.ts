import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { partnerProvider, payment } from '../../support/partner-api.ts';
import type { TestKey, TestProvider } from '../../support/provider.ts';
import { blamed } from '../refusal.ts';

const pay = 'POST /v1/partner/payments';
const body = JSON.stringify(payment);
const sign = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');

interface Signing {
  readonly text?: string;
  /** Headers to replace in a signed request; an empty value removes the header. */
  readonly changes?: Readonly<Record<string, string>>;
  readonly prefix?: string;
  /** Secret with which the request is signed, instead of the key's own. */
  readonly by?: string;
  readonly sent?: string;
}

/** Sends a signed payment request, and returns the response. */
async function paid(
  provider: TestProvider,
  key: TestKey | string,
  { by, text = body, ...rest }: Signing = {},
) {
  const { changes = {}, prefix = 'svc', sent = text } = rest;
  const secret = by ?? (typeof key === 'string' ? '' : key.signingSecret);
  const headers = {
    [`x-${prefix}-signature`]: sign(secret, text),
    [`x-${prefix}-timestamp`]: String(provider.clock.now()),
    ...changes,
  };
  const present = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
  return provider.partnerCall(key, pay, sent, present);
}
const refusal = '401 invalid_signature';

const { provider } = await partnerProvider();
const key = await provider.key();

describe('a signed request', () => {
  it('passes with the lower-case HMAC of its raw body', async () => {
    expect((await paid(provider, key)).status).toBe(201);
    // The signature covers the bytes, so spaces count.
    const spaced = ` ${body}\n`;
    expect((await paid(provider, key, { text: spaced })).status).toBe(201);
    expect((await paid(provider, key, { sent: spaced })).outcome).toBe(refusal);
  });

  it('is refused for everything that is not quite right', async () => {
    const other = await provider.key({ partner: key.partner });
    const right = sign(key.signingSecret, body);
    const now = provider.clock.now();
    const wrong: Record<string, Record<string, string>> = {
      'another digest': { 'x-svc-signature': sign(key.signingSecret, `${body} `) },
      'the secret of another key': { 'x-svc-signature': sign(other.signingSecret, body) },
      'upper case': { 'x-svc-signature': right.toUpperCase() },
      'base64 instead': { 'x-svc-signature': Buffer.from(right, 'hex').toString('base64') },
      'a short digest': { 'x-svc-signature': right.slice(2) },
      'a long digest': { 'x-svc-signature': `${right}00` },
      'a prefix': { 'x-svc-signature': `sha256=${right}` },
      // Node joins a repeated header like this.
      'the signature twice': { 'x-svc-signature': `${right}, ${right}` },
      'the timestamp twice': { 'x-svc-timestamp': `${now}, ${now}` },
      'no signature': { 'x-svc-signature': '' },
      'no timestamp': { 'x-svc-timestamp': '' },
      'seconds instead': { 'x-svc-timestamp': String(Math.floor(now / 1000)) },
      'no number': { 'x-svc-timestamp': '0x1' },
      'a date': { 'x-svc-timestamp': new Date(now).toISOString() },
      'too old': { 'x-svc-timestamp': String(now - 300_001) },
      'too new': { 'x-svc-timestamp': String(now + 300_001) },
      'a fraction': { 'x-svc-timestamp': `${now}.5` },
    };
    for (const [what, changes] of Object.entries(wrong))
      expect.soft((await paid(provider, key, { changes })).outcome, what).toBe(refusal);
    for (const offset of [-300_000, 300_000]) {
      const changes = { 'x-svc-timestamp': String(now + offset) };
      expect((await paid(provider, key, { changes })).status).toBe(201);
    }
  });

  it('gets an error with the tolerance for a timestamp outside it, with a right or wrong signature', async () => {
    const now = provider.clock.now();
    const words = async (at: number | string, more = {}): Promise<string> => {
      const answer = await paid(provider, key, { changes: { 'x-svc-timestamp': String(at), ...more } });
      expect(answer.outcome).toBe(refusal);
      return String(answer.json().message);
    };
    const wrong = { 'x-svc-signature': '0'.repeat(64) };
    for (const at of [now - 300_001, now + 300_001, Math.floor(now / 1000)]) {
      expect(await words(at)).toContain('The timestamp is outside the tolerance of 300 s;');
      expect(await words(at, wrong)).toBe(await words(at));
    }
    for (const about of [await words('now'), await words(now, wrong)]) expect(about).not.toContain('300 s');
  });

  it('can be required, of requests that have a body', async () => {
    const key = await provider.key({ requireSignature: true });
    expect((await provider.partnerCall(key, pay, body)).outcome).toBe(refusal);
    expect((await paid(provider, key)).status).toBe(201);
    expect((await provider.partnerCall(key, 'GET /v1/partner/payments')).status).toBe(200);
    // The new key keeps the requirement. During the overlap each key only accepts its own secret.
    const next = await provider.ostiary.admin.apiKeys.roll(key.id);
    for (const [presented, by, status] of [
      [next.key, key.signingSecret, 401],
      [next.key, next.signingSecret, 201],
      [key, key.signingSecret, 201],
      [key, next.signingSecret, 401],
    ] as const)
      expect((await paid(provider, presented, { by })).status).toBe(status);
  });

  it('follows the prefix, and takes no notice of headers of another one', async () => {
    const { provider } = await partnerProvider({ prefix: 'acme' });
    const key = await provider.key({ requireSignature: true });
    expect(key.key).toMatch(/^acme_live_/);
    for (const [prefix, status] of [
      ['svc', 401],
      ['acme', 201],
    ] as const)
      expect((await paid(provider, key, { prefix })).status).toBe(status);
  });

  it('proves integrity and not freshness: what makes a repetition harmless is a reference, which is signed', async () => {
    const text = JSON.stringify({ ...payment, reference: 'order-1017' });
    // Timestamp and key are not signed, so that an attacker can change them.
    const pay = (name: string, signed = body) =>
      paid(provider, key, { text: signed, changes: { 'idempotency-key': name } });
    const first = await pay('of the partner', text);
    expect(first.status).toBe(201);
    for (const later of [600_000, 365 * 86_400_000]) {
      provider.clock.advance(later);
      const again = await pay(`of somebody else, ${later}`, text);
      expect(blamed(again, 409, 'idempotency_conflict')).toEqual(['reference']);
      expect(again.json().details).toMatchObject([{ message: first.json().id }]);
    }
    // Without a reference, replaying the body makes another payment.
    for (const name of ['of the partner, too', 'of somebody else, too'])
      expect((await pay(name)).status).toBe(201);
  });
});
