import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { expect, it } from 'vitest';
import { createSealer } from '../../src/keys/sealing.ts';
import { systemRandom } from '../../src/secrets/random.ts';
import { startProvider } from '../support/running.ts';

const keyIdOf = (key: Uint8Array): string => createSealer([key], systemRandom).currentKeyId;

it('returns the waiting work, its age, and whether that is too long', async () => {
  const provider = await startProvider();
  const { admin, worker } = provider.ostiary;
  await worker.runDue();
  const nothing = { count: 0, oldestDueAt: null, late: false };
  expect(await admin.health()).toMatchObject({
    ...{ at: new Date(provider.clock.now()).toISOString(), jobs: nothing, deliveries: nothing },
    ...{ failingJobs: 0, dropped: 0 },
  });
  // The worker removes old rows every ten minutes.
  provider.clock.advance(600_000);
  const dueAt = new Date(provider.clock.now()).toISOString();
  const { jobs } = await admin.health();
  expect(jobs.count).toBe(1);
  expect(jobs.late).toBe(false);
  provider.clock.advance(60_000);
  expect((await admin.health()).jobs).toMatchObject({ count: 1, late: false });
  provider.clock.advance(1);
  expect((await admin.health()).jobs).toMatchObject({ count: 1, late: true });
  expect(Date.parse((await admin.health()).jobs.oldestDueAt ?? '')).toBeLessThanOrEqual(Date.parse(dueAt));
  expect((await admin.audit.list()).entries).toEqual([]);
});

it('counts the secrets that need a previous sealing key, until they are sealed anew', async () => {
  const storage = memoryStorage();
  // Do not close the storage: each instance would, and the database must stay.
  const kept = { ...storage, close: async () => undefined };
  const [old, current] = [randomBytes(32), randomBytes(32)];
  const first = await startProvider({ storage: kept, sealingKeys: [old] });
  expect((await first.ostiary.admin.health()).sealing).toEqual({ keyId: keyIdOf(old), sealedOtherwise: 0 });
  await first.key();
  const second = await startProvider({
    storage: { ...kept, open: async () => undefined },
    sealingKeys: [current, old],
  });
  const before = (await second.ostiary.admin.health()).sealing;
  expect(before.keyId).toBe(keyIdOf(current));
  expect(before.sealedOtherwise).toBeGreaterThanOrEqual(1);
  await second.ostiary.admin.reseal();
  expect((await second.ostiary.admin.health()).sealing).toEqual({
    keyId: keyIdOf(current),
    sealedOtherwise: 0,
  });
  await storage.close();
});

it('names the 20 endpoints to which most deliveries were given up, and counts those of all', async () => {
  const storage = memoryStorage();
  const { survey } = storage;
  const at = (number: number) => ({
    ...({ partner: 'kafe', mode: 'live' } as const),
    ...{ endpointId: `we_${number}`, url: 'https://receiver.example/', count: 3 },
  });
  const droppedEndpoints = Array.from({ length: 25 }, (_, number) => at(number));
  Object.assign(storage, {
    survey: async (request: Parameters<typeof survey>[0]) => ({
      ...(await survey(request)),
      droppedEndpoints,
    }),
  });
  const health = await (await startProvider({ storage })).ostiary.admin.health();
  expect(health).toMatchObject({ dropped: 75, droppedEndpoints: droppedEndpoints.slice(0, 20) });
  expect(health.droppedEndpoints).toHaveLength(20);
});
