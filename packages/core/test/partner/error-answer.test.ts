import { afterEach, describe, expect, it } from 'vitest';
import { partnerProvider, payment } from '../support/partner-api.ts';
import { blamed } from './refusal.ts';

const { provider, database } = await partnerProvider();
const key = await provider.key();

afterEach(() => database.breakWhen(null));

describe('a database that does not answer', () => {
  it.each([
    ['users/KID-ANA', 'rateLimits.consume'],
    ['users/phone/+50937000001', 'consents.partnerHolds'],
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

  it('does not reveal whether a key is valid, and refuses its requests', async () => {
    await provider.partnerCall(key, 'GET /v1/partner/payments');
    const { token } = await provider.ostiary.passports.issue('user-ana');
    const verify = () => provider.partnerCall(key, 'POST /v1/partner/verify', { token });
    database.breakWhen((name) => name === 'apiKeys.isLive');
    expect((await verify()).status).toBe(503);
    database.breakWhen((name) => !['apiKeys.isLive', 'rateLimits.consume'].includes(name));
    expect((await verify()).status).toBe(200);
  });

  it('does not matter where the database is not needed', async () => {
    await provider.partnerCall(key, 'GET /v1/partner/payments');
    database.breakWhen(() => true);
    expect((await provider.request('/v1/openapi.json')).status).toBe(200);
    expect((await provider.partnerCall('svc_live_x', 'GET /v1/partner/payments')).status).toBe(401);
  });
});
