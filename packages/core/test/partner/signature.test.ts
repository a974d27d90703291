import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { partnerProvider, payment } from '../support/partner-api.ts';
import type { TestKey, TestProvider } from '../support/provider.ts';

const pay = 'POST /v1/partner/payments';
const body = JSON.stringify(payment);
const sign = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');

function signed(
  provider: TestProvider,
  key: TestKey,
  text = body,
  changes: Record<string, string> = {},
  prefix = 'svc',
) {
  const headers = {
    [`x-${prefix}-signature`]: sign(key.signingSecret, text),
    [`x-${prefix}-timestamp`]: String(provider.clock.now()),
    ...changes,
  };
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
}

describe('a signed request', () => {
  it('passes with the lower-case HMAC of its raw body', async () => {
    const { provider } = await partnerProvider();
    const key = await provider.key();
    expect((await provider.partnerCall(key, pay, body, signed(provider, key))).status).toBe(201);
    // Raw bytes count, not what they mean.
    const spaced = ` ${body}\n`;
    expect((await provider.partnerCall(key, pay, spaced, signed(provider, key, spaced))).status).toBe(201);
    expect((await provider.partnerCall(key, pay, spaced, signed(provider, key, body))).status).toBe(401);
  });

  it('is refused for everything that is not quite right', async () => {
    const { provider } = await partnerProvider();
    const key = await provider.key();
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
      // As Node joins a header that comes twice.
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
    for (const [what, changes] of Object.entries(wrong)) {
      const answer = await provider.partnerCall(key, pay, body, signed(provider, key, body, changes));
      expect.soft([answer.status, answer.json().code], what).toEqual([401, 'invalid_signature']);
    }
    for (const offset of [-300_000, 300_000]) {
      const edge = signed(provider, key, body, { 'x-svc-timestamp': String(now + offset) });
      expect((await provider.partnerCall(key, pay, body, edge)).status).toBe(201);
    }
  });

  it('is told the tolerance when its timestamp is outside, whether its signature is right or not', async () => {
    const { provider } = await partnerProvider();
    const key = await provider.key();
    const now = provider.clock.now();
    const words = async (changes: Record<string, string>): Promise<string> => {
      const answer = await provider.partnerCall(key, pay, body, signed(provider, key, body, changes));
      expect([answer.status, answer.json().code]).toEqual([401, 'invalid_signature']);
      return answer.json().message as string;
    };
    const stale = 'The timestamp is outside the tolerance of 300 s;';
    for (const at of [now - 300_001, now + 300_001, Math.floor(now / 1000)]) {
      const timestamp = { 'x-svc-timestamp': String(at) };
      expect(await words(timestamp)).toContain(stale);
      expect(await words({ ...timestamp, 'x-svc-signature': '0'.repeat(64) })).toBe(await words(timestamp));
    }
    expect(await words({ 'x-svc-timestamp': 'now' })).not.toContain('300 s');
    expect(await words({ 'x-svc-signature': '0'.repeat(64) })).not.toContain('300 s');
  });

  it('can be required, of requests that have a body', async () => {
    const { provider } = await partnerProvider();
    const key = await provider.key({ requireSignature: true });
    const bare = await provider.partnerCall(key, pay, body);
    expect([bare.status, bare.json().code]).toEqual([401, 'invalid_signature']);
    expect((await provider.partnerCall(key, pay, body, signed(provider, key))).status).toBe(201);
    expect((await provider.partnerCall(key, 'GET /v1/partner/payments')).status).toBe(200);
    // It stays required of the successor, which has a secret of its own.
    const next = await provider.ostiary.admin.apiKeys.roll(key.id);
    expect((await provider.partnerCall(next.key, pay, body, signed(provider, key))).status).toBe(401);
    const successor = { ...key, key: next.key, signingSecret: next.signingSecret };
    expect((await provider.partnerCall(next.key, pay, body, signed(provider, successor))).status).toBe(201);
    // Within the overlap each key goes on with its own secret, and only with that.
    expect((await provider.partnerCall(key, pay, body, signed(provider, key))).status).toBe(201);
    expect((await provider.partnerCall(key, pay, body, signed(provider, successor))).status).toBe(401);
  });

  it('follows the prefix, and takes no notice of headers of another one', async () => {
    const { provider } = await partnerProvider({ prefix: 'acme' });
    const key = await provider.key({ requireSignature: true });
    expect(key.key).toMatch(/^acme_live_/);
    expect((await provider.partnerCall(key, pay, body, signed(provider, key, body, {}, 'svc'))).status).toBe(
      401,
    );
    expect((await provider.partnerCall(key, pay, body, signed(provider, key, body, {}, 'acme'))).status).toBe(
      201,
    );
  });

  it('proves integrity and not freshness: what makes a repetition harmless is a reference, which is signed', async () => {
    const { provider } = await partnerProvider();
    const key = await provider.key();
    const replay = (text: string, headers: Record<string, string>, idempotencyKey: string) =>
      provider.partnerCall(key, pay, text, {
        ...headers,
        'x-svc-timestamp': String(provider.clock.now()),
        'idempotency-key': idempotencyKey,
      });
    const referenced = JSON.stringify({ ...payment, reference: 'order-1017' });
    const headers = signed(provider, key, referenced);
    const first = await replay(referenced, headers, 'of the partner');
    expect(first.status).toBe(201);
    provider.clock.advance(600_000);
    const stale = { ...headers, 'idempotency-key': 'of the partner' };
    expect((await provider.partnerCall(key, pay, referenced, stale)).status).toBe(401);
    // Neither timestamp nor key is signed: somebody else writes what they like there.
    const again = await replay(referenced, headers, 'of somebody else');
    expect([again.status, again.json()]).toMatchObject([
      409,
      { code: 'idempotency_conflict', details: [{ path: 'reference', message: first.json().id }] },
    ]);
    provider.clock.advance(365 * 86_400_000);
    expect((await replay(referenced, headers, 'of somebody else, later')).status).toBe(409);
    // Without a reference it is another payment.
    const bare = signed(provider, key);
    expect((await replay(body, bare, 'of the partner, too')).status).toBe(201);
    expect((await replay(body, bare, 'of somebody else, too')).status).toBe(201);
  });
});
