import { afterEach, describe, expect, it } from 'vitest';
import { fixedWindows } from '../../src/limits/fixed-windows.ts';
import { manyRequests, partnerProvider, payment } from '../support/partner-api.ts';
import { blamed } from './refusal.ts';

const { provider, database } = await partnerProvider();
const key = await provider.key();

afterEach(() => database.breakWhen(null));

describe('a database that does not answer', () => {
  it.each([
    ['users/KID-ANA', 'rateLimits.consumeOfKey'],
    ['users/phone/+50937000001', 'rateLimits.consumeOfKey'],
    ['reconciliation?date=2024-01-01&format=csv', 'transfers.listFinal'],
    ['reconciliation?date=2024-01-01&format=ndjson', 'transfers.listFinal'],
  ])('is 503 in the shape of the partner API: %s at %s', async (path, call) => {
    database.breakWhen((name) => name === call);
    const answer = await provider.partnerCall(key, `GET /v1/partner/${path}`);
    expect(blamed(answer, 503, 'internal_error')).toEqual([]);
  });

  it('changes nothing: the same request takes effect later', async () => {
    const send = () =>
      provider.partnerCall(key, 'POST /v1/partner/payments', payment, { 'idempotency-key': 'k' });
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
    const { provider: own, database } = await partnerProvider({
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
