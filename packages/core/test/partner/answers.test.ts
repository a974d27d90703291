import { beforeAll, describe, expect, it } from 'vitest';
import type { PartnerErrorCode } from '../../src/index.ts';
import type { Answer } from '../support/browser.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { partnerProvider, payment, TestRail } from '../support/partner-api.ts';
import { type TestKey, TestProvider } from '../support/provider.ts';
import { blamed, statuses } from './refusal.ts';

const database = fragileStorage();
let provider: TestProvider;
let key: TestKey;

beforeAll(async () => {
  provider = await TestProvider.start({
    storage: database.storage,
    payments: new TestRail(),
    partnerLimits: { verify: { requests: 1, windowSeconds: 60 } },
  });
  key = await provider.key();
  return () => provider.stop();
});

const pay = 'POST /v1/partner/payments';
const csv = 'text/csv; charset=utf-8';
const day = 'date=2024-01-01';
const call = (target: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> =>
  provider.partnerCall(key, target, body, headers);

/** Every way in which the API answers: the status or the code of the refusal, and the media type where it is not JSON. */
const answers: Record<string, readonly [number | PartnerErrorCode, () => Promise<Answer>, string?]> = {
  'a resource': [200, () => call('GET /v1/partner/users/KID-ANA')],
  'its head': [200, () => call('HEAD /v1/partner/users/KID-ANA')],
  'something new': [201, () => call(pay, payment, { 'idempotency-key': 'k' })],
  'a replay': [201, () => call(pay, payment, { 'idempotency-key': 'k' })],
  'a list': [200, () => call('GET /v1/partner/payments')],
  'the description': [200, () => provider.request('/v1/openapi.json')],
  'an export': [200, () => call(`GET /v1/partner/reconciliation?${day}`)],
  'an export as CSV': [200, () => call(`GET /v1/partner/reconciliation?${day}&format=csv`), csv],
  'an export as NDJSON': [
    200,
    () => call(`GET /v1/partner/reconciliation?${day}&format=ndjson`),
    'application/x-ndjson; charset=utf-8',
  ],
  'the methods of an address': [204, () => call('OPTIONS /v1/partner/payments'), ''],
  'a refused export': ['invalid_request', () => call('GET /v1/partner/reconciliation?date=x&format=csv')],
  'a malformed body': ['invalid_request', () => call(pay, '{')],
  'a stranger': ['invalid_api_key', () => provider.partnerCall('svc_live_x', pay, payment)],
  'a bad signature': ['invalid_signature', () => call(pay, payment, { 'x-svc-signature': 'x' })],
  'a key without scope': [
    'insufficient_scope',
    async () => provider.partnerCall(await provider.key({ scopes: ['webhooks'] }), pay, payment),
  ],
  'a key at another address': [
    'ip_not_allowed',
    async () => provider.partnerCall(await provider.key({ allowlist: ['192.0.2.1'] }), pay, payment),
  ],
  nobody: ['not_found', () => call('GET /v1/partner/users/nobody')],
  'no such address': ['not_found', () => call('GET /v1/partner/nothing')],
  'no such address, for browsers': [
    'not_found',
    () => call('GET /v1/partner/', undefined, { accept: 'text/html' }),
  ],
  'a wrong method': [405, () => call('PUT /v1/partner/payments', {})],
  'a conflict': [
    'idempotency_conflict',
    () => call(pay, { ...payment, amount: '1.00' }, { 'idempotency-key': 'k' }),
  ],
  'a long body': [413, () => call(pay, 'x'.repeat(64 * 1024 + 1))],
  'another media type': [415, () => call(pay, '{}', { 'content-type': 'text/plain' })],
  'a passport that has ended': [
    'token_expired',
    async () => {
      const { token } = await provider.ostiary.passports.issue('user-ana');
      provider.clock.advance(300_001);
      return call('POST /v1/partner/verify', { token });
    },
  ],
  'a limit that is reached': ['rate_limit_exceeded', () => call('POST /v1/partner/verify', { token: 'x' })],
  'a defect': [
    'internal_error',
    () => {
      provider.host.people.set('broken', { sub: 'broken', kid: 'KID-BROKEN' });
      return call('GET /v1/partner/users/KID-BROKEN');
    },
  ],
  'a database that is down': [
    503,
    async () => {
      database.breakWhen((name) => name === 'transfers.list');
      return call('GET /v1/partner/payments').finally(() => database.breakWhen(null));
    },
  ],
};

describe('every answer', () => {
  it.each(Object.entries(answers).map(([what, rest]) => [what, ...rest] as const))(
    'to %s has an id, a type and no place in a cache',
    async (_what, expected, ask, type = 'application/json; charset=utf-8') => {
      const status = typeof expected === 'string' ? statuses[expected] : expected;
      const [answer, again] = [await ask(), await provider.request('/v1/openapi.json')];
      const { headers } = answer;
      expect(answer.status, answer.text).toBe(status);
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect(headers.get('x-request-id')).not.toBe(again.headers.get('x-request-id'));
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-type') ?? '').toBe(type);
      // Neither a file name, nor a page, nor anything about the server.
      expect(headers.get('x-powered-by')).toBeNull();
      expect(headers.get('strict-transport-security')).toBeNull();
      if (status < 400) return;
      expect(answer.json().requestId).toBe(headers.get('x-request-id'));
      if (typeof expected === 'string') expect(blamed(answer, status, expected)).toEqual(expect.any(Array));
    },
  );

  it('may be one with any code of the table', () => {
    const told = new Set(Object.values(answers).map(([expected]) => expected));
    expect(Object.keys(statuses).filter((code) => !told.has(code as PartnerErrorCode))).toEqual([]);
  });

  it('says on https that the site is always https', async () => {
    const { provider: secure } = await partnerProvider({ authUrl: 'https://id.example' });
    const own = await secure.key();
    for (const [by, target] of [
      [own, 'GET /v1/partner/whoami'],
      [null, 'GET /v1/partner/whoami'],
      [own, 'GET /v1/partner/nothing'],
      [own, `GET /v1/partner/reconciliation?${day}&format=csv`],
    ] as const) {
      const { headers } = await secure.partnerCall(by, target);
      expect(headers.get('strict-transport-security')).toMatch(/^max-age=\d{7,}$/);
    }
  });
});
