import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { patient } from '../../../../lab/support/patient.ts';
import type { TransferResult } from '../../src/index.ts';
import { ana } from '../support/directory.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { partnerProvider, payment, storages } from '../support/partner-api.ts';
import type { TestProvider } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const hour = 3_600_000;

async function pay(provider: TestProvider) {
  const answer = await provider.partnerCall(await provider.key(), 'POST /v1/partner/payments', payment);
  expect(answer.status).toBe(201);
}

/** Waits for the work that a change of the clock has started. */
const afterStep = () => setTimeout(20);

describe.each(storages)('after the clock went back, on %s,', (_, storageOf) => {
  it.each([10_000, hour, 24 * hour])('by %d ms, a payment of before is executed at once', async (back) => {
    const { provider, rail } = await partnerProvider({ storage: storageOf() });
    await provider.ostiary.worker.runDue();
    await pay(provider);
    provider.clock.advance(-back);
    provider.ostiary.now();
    await afterStep();
    await provider.ostiary.worker.runDue();
    expect(rail.orders).toHaveLength(1);
  });

  it('a failed payment is retried after its wait, even if earlier waits were longer', async () => {
    const { provider, rail } = await partnerProvider({ storage: storageOf() });
    rail.answer = async () => Promise.reject(new Error('away'));
    await pay(provider);
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await provider.ostiary.worker.runDue();
      provider.clock.advance(1000 * 2 ** (attempt - 1));
    }
    await provider.ostiary.worker.runDue();
    expect(rail.orders).toHaveLength(4);
    // The next attempt is due after eight seconds.
    provider.clock.advance(-hour);
    provider.ostiary.now();
    await afterStep();
    provider.clock.advance(7_999);
    await provider.ostiary.worker.runDue();
    expect(rail.orders).toHaveLength(4);
    provider.clock.advance(1);
    await provider.ostiary.worker.runDue();
    expect(rail.orders).toHaveLength(5);
  });

  it('a payment claimed by a killed worker is taken over when its lease has certainly expired', async () => {
    const storage = storageOf();
    const { provider, rail } = await partnerProvider({ storage });
    await pay(provider);
    const held = {
      kinds: ['transfer'],
      claimId: 'dead',
      now: provider.ostiary.now(),
      leaseMs: 30_000,
      limit: 9,
    };
    expect(await storage.queue.claim(held)).toHaveLength(1);
    provider.clock.advance(-hour);
    provider.ostiary.now();
    await afterStep();
    provider.clock.advance(29_999);
    await provider.ostiary.worker.runDue();
    expect(rail.orders).toHaveLength(0);
    provider.clock.advance(1);
    await provider.ostiary.worker.runDue();
    expect(rail.orders).toHaveLength(1);
  });

  it('a limit opens again', async () => {
    const { provider } = await partnerProvider({
      storage: storageOf(),
      partnerLimits: { users: { requests: 2, windowSeconds: 60 } },
    });
    const key = await provider.key();
    const look = async () => (await provider.partnerCall(key, `GET /v1/partner/users/${ana.kid}`)).status;
    const outcomes = async () => [await look(), await look(), await look()].map((status) => status === 429);
    expect(await outcomes()).toEqual([false, false, true]);
    provider.clock.advance(-hour);
    expect(await outcomes()).toEqual([false, false, true]);
    provider.clock.advance(60_000);
    expect(await outcomes()).toEqual([false, false, true]);
  });
});

it('a worker that begins brings forward what waits since the clock went back while nothing ran', async () => {
  const { storage } = fragileStorage();
  const keepOpen = { ...storage, close: async () => undefined };
  const shared = {
    authUrl: 'https://id.example',
    sealingKeys: [new Uint8Array(32).fill(1)],
    storage: keepOpen,
  };
  const before = await partnerProvider(shared);
  await pay(before.provider);
  const clock = before.provider.clock;
  await before.provider.ostiary.close();
  clock.advance(-hour);
  const execute = vi.fn(async (): Promise<TransferResult> => ({ status: 'completed' }));
  const after = await startProvider(
    { ...shared, storage: { ...storage, close: async () => undefined }, clock, payments: { execute } },
    before.provider.host,
  );
  await after.ostiary.worker.runDue();
  expect(execute).toHaveBeenCalledTimes(1);
});

it('a storage that fails at the moment of the step is asked again, and closing ends that', async () => {
  const { provider, rail, database } = await partnerProvider();
  await provider.ostiary.worker.runDue();
  await pay(provider);
  database.breakWhen((call) => call === 'boundWaits');
  provider.clock.advance(-hour);
  provider.ostiary.now();
  await afterStep();
  database.breakWhen(null);
  await vi.waitFor(
    async () => {
      await provider.ostiary.worker.runDue();
      expect(rail.orders).toHaveLength(1);
    },
    { ...patient, interval: 100 },
  );
  database.breakWhen((call) => call === 'boundWaits');
  provider.clock.advance(-hour);
  provider.ostiary.now();
  await afterStep();
  await provider.ostiary.close();
  database.forget();
  await setTimeout(1_100);
  expect(database.calls).toEqual([]);
});
