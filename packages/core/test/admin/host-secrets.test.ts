import { expect, it } from 'vitest';
import type { HostSecrets } from '../../src/index.ts';
import { idOf, processes, work } from './resealing.ts';

it('secrets of the host application are sealed anew with those of the service', async () => {
  const { clock, start, old, next } = processes();
  let outdated = 3;
  const hostSecrets: HostSecrets = {
    countSealedOtherwise: async () => outdated,
    async reseal() {
      const sealed = outdated - 1;
      outdated = 1;
      return { sealed, unopened: 1 };
    },
  };
  await start([old]);
  const after = await start([next, old], { hostSecrets });
  const { admin } = after.ostiary;
  expect((await admin.health()).sealing.sealedOtherwise).toBe(3);
  expect(await admin.reseal()).toEqual({ sealed: 2, unopened: 1 });
  expect((await admin.health()).sealing.sealedOtherwise).toBe(1);
  outdated = 5;
  await work(after);
  expect(after.logged).toContainEqual({
    level: 'warn',
    message: 'some secrets are not sealed with the first sealing key',
    fields: { sealingKey: idOf(next), sealed: 4, unopened: 1 },
  });
  outdated = 5;
  clock.advance(10 * 60_000);
  await work(after);
  expect(outdated).toBe(1);
  outdated = 10_001;
  expect((await admin.health()).sealing.sealedOtherwise).toBe(10_000);
});

it('secrets of the host application are sealed in portions, as many in a run of the worker as its own', async () => {
  const { start, old, next } = processes();
  let outdated = 0;
  let calls = 0;
  let waiting = 0;
  const waits: number[] = [];
  const hostSecrets: HostSecrets = {
    countSealedOtherwise: () => outdated,
    reseal() {
      calls += 1;
      waits.push(waiting);
      waiting += 1;
      setImmediate(() => {
        waiting -= 1;
      });
      const sealed = Math.min(outdated, 10);
      outdated -= sealed;
      return { sealed, unopened: 1, hasMore: outdated > 0 };
    },
  };
  await start([old]);
  const after = await start([next, old], { hostSecrets });
  outdated = 95;
  expect(await after.ostiary.admin.reseal()).toEqual({ sealed: 95, unopened: 1 });
  // Other requests run in between, even if the function returns at once.
  expect([outdated, calls, Math.max(...waits)]).toEqual([0, 10, 0]);
  [outdated, calls] = [1_200, 0];
  await after.ostiary.worker.runDue();
  expect(calls).toBe(50);
  await work(after);
  expect([outdated, calls]).toEqual([0, 120]);
  expect(after.logged).toContainEqual(
    expect.objectContaining({ fields: { sealingKey: idOf(next), sealed: 1_200, unopened: 1 } }),
  );
});

it('functions of the host application are awaited for a limited time', async () => {
  const { start, old } = processes();
  const never = () => new Promise<never>(() => undefined);
  const hostSecrets: HostSecrets = { countSealedOtherwise: never, reseal: never };
  const { ostiary } = await start([old], { hostSecrets, hostTimeoutSeconds: 0.05 });
  await expect(ostiary.admin.health()).rejects.toThrow('hostSecrets.countSealedOtherwise did not answer');
  await expect(ostiary.admin.reseal()).rejects.toThrow('hostSecrets.reseal did not answer');
});

it('invalid numbers of secrets are refused', async () => {
  const { start, old } = processes();
  for (const wrong of [{ sealed: 1 }, { sealed: 1, unopened: 0, hasMore: 'no' }]) {
    const hostSecrets = { countSealedOtherwise: async () => -1, reseal: async () => wrong };
    const { ostiary } = await start([old], { hostSecrets: hostSecrets as unknown as HostSecrets });
    await expect(ostiary.admin.health()).rejects.toThrow('hostSecrets.countSealedOtherwise must return');
    await expect(ostiary.admin.reseal()).rejects.toThrow('hostSecrets.reseal must return');
  }
});
