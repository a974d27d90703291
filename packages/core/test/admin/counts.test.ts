import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { answering, shop } from '../partner/webhook-shop.ts';
import { partnerProvider, payment } from '../support/partner-api.ts';
import { startProvider } from '../support/running.ts';

const nothing = {
  signIns: 0,
  deliveries: { accepted: 0, failed: 0 },
  requests: { all: 0, clientErrors: 0, serverErrors: 0 },
  longestWaitMs: null,
};

describe('the counts of what the service did', () => {
  it('are zero on the first day, for every hour and day', async () => {
    const provider = await startProvider();
    const { admin, now } = provider.ostiary;
    const { total, periods, mode, by } = await admin.counts();
    expect({ total, mode, by, length: periods.length }).toEqual({
      ...{ total: nothing, mode: 'live', by: 'hour', length: 24 },
    });
    const hour = new Date(now() - (now() % 3_600_000)).toISOString();
    expect(periods.at(-1)).toEqual({ at: hour, ...nothing });
    const days = await admin.counts({ by: 'day' });
    expect(days.periods.map(({ at }) => at.slice(10))).toEqual(Array(30).fill('T00:00:00.000Z'));
    expect(days.periods.at(-1)?.at.slice(0, 10)).toBe(hour.slice(0, 10));
    expect((await admin.counts({ last: 3, mode: 'test' })).periods).toHaveLength(3);
  });

  it('refuse arguments that it does not know', async () => {
    const { admin } = (await startProvider()).ostiary;
    for (const wrong of [{ last: 0 }, { last: 1.5 }, { last: 2161 }, { by: 'day', last: 91 }, { by: 'week' }])
      await expect(admin.counts(wrong as object), JSON.stringify(wrong)).rejects.toThrow(TypeError);
    await expect(admin.counts({ until: 1 } as object)).rejects.toThrow('until');
  });

  it('have a sign-in for each exchanged code, and none for a refused one', async () => {
    const provider = await startProvider();
    const client = await provider.client();
    const code = await provider.code(client);
    expect((await provider.exchange(client, code)).status).toBe(200);
    expect((await provider.exchange(client, code)).status).toBe(400);
    await provider.code(client);
    expect((await provider.ostiary.admin.counts()).total).toEqual({ ...nothing, signIns: 1 });
    provider.clock.advance(2 * 3_600_000);
    const { periods } = await provider.ostiary.admin.counts({ last: 4 });
    expect(periods.map(({ signIns }) => signIns)).toEqual([0, 1, 0, 0]);
    expect((await provider.ostiary.admin.counts({ last: 1 })).total.signIns).toBe(0);
    expect((await provider.ostiary.admin.counts({ mode: 'test' })).total.signIns).toBe(0);
  });

  it('have each request to the partner API under the mode of its key, with refusals and failures apart', async () => {
    const { provider, database } = await partnerProvider();
    await provider.partner('acme');
    const [live, test] = [
      await provider.key({ partner: 'acme' }),
      await provider.key({ partner: 'acme', mode: 'test' }),
    ];
    const call = async (key: typeof live, path: string, body?: object) =>
      (await provider.partnerCall(key, path, body)).status;
    expect(await call(live, 'GET /v1/partner/whoami')).toBe(200);
    expect(await call(live, 'POST /v1/partner/payments', { ...payment, amount: '-1' })).toBe(400);
    expect(await call(live, 'GET /v1/partner/nothing/at/all')).toBe(404);
    expect(await call(test, 'GET /v1/partner/whoami')).toBe(200);
    await provider.ostiary.admin.apiKeys.revoke(test.id);
    expect(await call(test, 'GET /v1/partner/whoami')).toBe(401);
    database.breakWhen((name) => name === 'transfers.list');
    expect(await call(live, 'GET /v1/partner/payments')).toBe(503);
    database.breakWhen(null);
    // Neither other endpoints nor the host's own paths are requests to the partner API.
    await fetch(`${provider.origin}/.well-known/openid-configuration`);
    await fetch(`${provider.origin}/partner`);
    const { admin } = provider.ostiary;
    expect((await admin.counts()).total.requests).toEqual({ all: 4, clientErrors: 2, serverErrors: 1 });
    expect((await admin.counts({ mode: 'test' })).total.requests).toEqual({
      ...{ all: 2, clientErrors: 1, serverErrors: 0 },
    });
  });

  it('have every attempt of a delivery by its result, and the longest wait of work', async () => {
    const { provider, register, trigger, deliveries } = await shop();
    const { worker, admin } = provider.ostiary;
    await worker.runDue();
    const good = await answering(204);
    const bad = await answering(500);
    await register(good.url);
    const failing = await register(bad.url);
    await trigger();
    provider.clock.advance(7_000);
    await worker.runDue();
    provider.clock.advance(60_000);
    await worker.runDue();
    const attempts = (await deliveries(failing)).flatMap((each) => each.attempts);
    expect(attempts).toHaveLength(2);
    const { total } = await admin.counts({ mode: 'test' });
    expect(total.deliveries).toEqual({ accepted: 1, failed: 2 });
    expect(total.longestWaitMs).toBe(7_000);
    expect((await admin.counts()).total.deliveries).toEqual(nothing.deliveries);
  });

  it('survive a restart, and the process stores what is left when it is closed', async () => {
    const storage = memoryStorage();
    onTestFinished(() => storage.close());
    const kept = { ...storage, close: async () => undefined };
    const sealingKeys = [randomBytes(32)];
    const first = await startProvider({ storage: kept, sealingKeys });
    const client = await first.client();
    expect((await first.exchange(client, await first.code(client))).status).toBe(200);
    await first.stop();
    const second = await startProvider({
      storage: { ...kept, open: async () => undefined },
      sealingKeys,
      clock: first.clock,
    });
    expect((await second.ostiary.admin.counts()).total.signIns).toBe(1);
  });
});
