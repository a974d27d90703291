import { afterEach, describe, expect, it } from 'vitest';
import { fixedWindows } from '../../src/fixed-windows.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { manyRequests, partnerProvider, payment } from '../support/partner-api.ts';
import type { TestKey } from '../support/provider.ts';
import { blamed } from './refusal.ts';
import { body as endpoint, hooks, shop } from './webhook-shop.ts';

const database = fragileStorage();
const { provider, key, register } = await shop({ storage: database.storage }, 'live');
const test = await provider.key({ mode: 'test' });

afterEach(() => database.breakWhen(null));

type Target = readonly [target: string, body: object | undefined, call: string];

const targets: readonly Target[] = [
  ['POST /v1/partner/payments', payment, 'transfers.create'],
  ['POST /v1/partner/payments', payment, 'idempotency.find'],
  ['GET /v1/partner/payments', undefined, 'transfers.list'],
  [`GET /v1/partner/payments/tr_${'0'.repeat(32)}`, undefined, 'transfers.find'],
  ['GET /v1/partner/users/KID-ANA', undefined, 'consents.partnerHolds'],
  ['GET /v1/partner/users/phone/+50937000001', undefined, 'consents.partnerHolds'],
  ['GET /v1/partner/reconciliation?date=2024-01-01', undefined, 'transfers.listFinal'],
  ['GET /v1/partner/reconciliation?date=2024-01-01&format=csv', undefined, 'transfers.listFinal'],
  ['GET /v1/partner/reconciliation?date=2024-01-01&format=ndjson', undefined, 'transfers.listFinal'],
  [`POST ${hooks}`, endpoint, 'webhooks.create'],
  [`POST ${hooks}`, endpoint, 'idempotency.find'],
  [`GET ${hooks}`, undefined, 'webhooks.list'],
  [`GET ${hooks}/:id`, undefined, 'webhooks.find'],
  [`PATCH ${hooks}/:id`, { enabled: false }, 'webhooks.replace'],
  [`GET ${hooks}/:id/deliveries`, undefined, 'deliveries.list'],
  [`POST ${hooks}/:id/recover`, { since: '2026-01-01T00:00:00Z' }, 'deliveries.recover'],
  [`DELETE ${hooks}/:id`, undefined, 'webhooks.remove'],
  ['GET /v1/partner/events', undefined, 'events.list'],
  [`POST /v1/partner/events/evt_${'0'.repeat(32)}/redeliver`, {}, 'deliveries.redeliver'],
  ['POST /v1/partner/sandbox/events', { type: 'webhook.test' }, 'events.publish'],
];

/** The key for a target, and the target with the id of an endpoint that the key has. */
async function prepared(target: string): Promise<readonly [TestKey, string]> {
  const by = target.includes('sandbox') ? test : key;
  if (!target.includes(':id')) return [by, target];
  return [by, target.replace(':id', await register(endpoint.url, {}, by))];
}

async function expectUnavailable(by: TestKey, target: string, body: object | undefined): Promise<void> {
  const before = provider.errors.length;
  const answer = await provider.partnerCall(by, target, body, { 'idempotency-key': 'k' });
  expect(blamed(answer, 503, 'internal_error')).toEqual([]);
  expect(answer.headers.get('retry-after')).toBe('1');
  expect(answer.text).not.toContain('secret detail');
  expect(provider.errors[before]?.fields).toMatchObject({ requestId: answer.json().requestId });
}

describe('a database that does not answer is 503 in the shape of the partner API', () => {
  it.each(targets)('%s %j at %s', async (given, body, call) => {
    const [by, target] = await prepared(given);
    database.breakWhen((name) => name === call);
    await expectUnavailable(by, target, body);
    database.breakWhen(null);
    expect((await provider.partnerCall(by, target, body)).status).not.toBe(503);
  });

  it('also when the key cannot be looked up', async () => {
    provider.clock.advance(5_000);
    database.breakWhen((name) => name === 'apiKeys.findByDigest');
    await expectUnavailable(key, 'POST /v1/partner/verify', { token: 'x' });
  });

  it('nothing was changed: the same request takes effect later', async () => {
    const own = await provider.key();
    const send = () =>
      provider.partnerCall(own, 'POST /v1/partner/payments', payment, { 'idempotency-key': 'k' });
    database.breakWhen((name) => name === 'transfers.create');
    expect((await send()).status).toBe(503);
    database.breakWhen(null);
    const good = await send();
    expect([good.status, good.headers.get('idempotent-replayed')]).toEqual([201, null]);
  });

  it.each([
    ['together with the count', {}, 'rateLimits.consumeOfKey'],
    ['beside a count that is kept somewhere else', { store: fixedWindows() }, 'apiKeys.isLive'],
  ])('leaves open whether a key lives still, which nobody passes on: %s', async (_way, limits, call) => {
    const database = fragileStorage();
    const { provider: own } = await partnerProvider({
      storage: database.storage,
      partnerLimits: { ...manyRequests, ...limits },
    });
    const used = await own.key();
    await own.partnerCall(used, 'GET /v1/partner/payments');
    const { token } = await own.ostiary.passports.issue('user-ana');
    const verify = () => own.partnerCall(used, 'POST /v1/partner/verify', { token });
    database.breakWhen((name) => name === call);
    expect((await verify()).status).toBe(503);
    database.breakWhen((name) => name !== call);
    expect((await verify()).status).toBe(200);
    database.breakWhen(null);
  });

  it('does not matter where the database is not needed', async () => {
    await provider.partnerCall(key, 'GET /v1/partner/payments');
    database.breakWhen(() => true);
    expect((await provider.request('/v1/openapi.json')).status).toBe(200);
    expect((await provider.partnerCall('svc_live_x', 'GET /v1/partner/payments')).status).toBe(401);
  });
});
