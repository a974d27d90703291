import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { Storage } from '@ostiary/core/storage';
import { expect, test } from 'vitest';
import { inParallel } from '../../src/contract/case.ts';
import { sampleApiKey, samplePartner } from '../../src/contract/partner-samples.ts';
import {
  connected,
  consented,
  isLive,
  refresh,
  sampleGrant,
  sampleToken,
} from '../../src/contract/samples.ts';
import { child, type Place, shared, together } from './processes.ts';

/** A new database, with its location for other processes, and its applied migrations. */
export interface ProcessStage {
  readonly place: Place;
  /** Opens a storage on the database, for the test. */
  open(): Promise<Storage>;
  applied(): Promise<unknown> | unknown;
}

/** Defines the tests of several processes on one database, for every kind of database. */
export function processRaces(stage: () => ProcessStage, migrations: readonly string[]): void {
  test('twenty processes that start at once on nothing all succeed, and migrate once', async () => {
    const { place, open, applied } = stage();
    const ids = Array.from({ length: 20 }, (_, index) => `process ${index}`);
    await together(
      shared('start.ts'),
      place,
      ids.map((id) => [id]),
    );
    const { queue } = await open();
    const jobs = await queue.claim({ kinds: ['start'], claimId: 'c', now: 0, leaseMs: 1, limit: 100 });
    expect(jobs.map((job) => job.id).toSorted()).toEqual(ids.toSorted());
    expect(await applied()).toEqual(migrations);
  });

  test('a process that is killed while it migrates leaves everything or nothing', async () => {
    const delaysMs = [0, 5, 10, 20, 40, 80];
    await Promise.all(
      delaysMs.map(async (delayMs) => {
        const { place, open, applied } = stage();
        const starting = child(shared('start.ts'), JSON.stringify(place), 'killed');
        // A fast process may end by itself before it is killed.
        const ended = once(starting, 'exit');
        await once(starting, 'message');
        starting.send('go');
        await setTimeout(delayMs);
        starting.kill('SIGKILL');
        await ended;
        const { queue } = await open();
        await queue.enqueue([{ id: 'next', kind: 'next', payload: {}, dueAt: 0 }]);
        expect(await applied()).toEqual(migrations);
      }),
    );
  });

  test('of two processes that redeem the same code exactly one succeeds, and its token is revoked', async () => {
    const { place, open } = stage();
    const storage = await open();
    await consented(storage);
    const count = 200;
    const issued = await inParallel(count, (code) => storage.grants.issue(sampleGrant(`${code}`)));
    expect(issued).not.toContain(false);

    const names = ['first', 'second'];
    const answers = await together<string[]>(
      shared('redeem.ts'),
      place,
      names.map((name) => [name, String(count)]),
    );
    for (let code = 0; code < count; code += 1) {
      expect(answers.map((list) => list[code]).toSorted(), `code ${code}`).toEqual(['redeemed', 'replayed']);
      const tokens = await Promise.all(
        names.map((name) => storage.grants.findToken(sampleToken(`${code} ${name}`).digest)),
      );
      expect(tokens.filter((token) => token !== null)).toMatchObject([{ revoked: true }]);
    }
  });

  test('two processes that present the same refresh tokens get the same successors, and every access token lives', async () => {
    const { place, open } = stage();
    const storage = await open();
    const [families, uses] = [10, 100];
    await inParallel(families, (family) => connected(storage, `${family}`));
    const names = ['first', 'second'];
    const answers = await together<string[][]>(
      shared('refresh.ts'),
      place,
      names.map((name) => [name, `${families}`, `${uses}`]),
    );
    expect(new Set(answers.flat(2))).toEqual(new Set(['refreshed']));
    for (let family = 0; family < families; family += 1) {
      for (const label of [`${family}`, ...names.map((name) => `${family} ${name} ${uses - 1}`)])
        expect(await isLive(storage, sampleToken(label))).toBe(true);
      expect(await refresh(storage, `${family} 2`, `${family} 3`)).toBe('refreshed');
    }
  });

  test('a process that is killed during a refresh does not end the sign-in', async () => {
    const { place, open } = stage();
    const storage = await open();
    // Start the processes in parallel, which takes most of the time, and then give each the database alone.
    const started = await Promise.all(
      Array.from({ length: 8 }, async (_, family) => {
        const refreshing = child(shared('refresh-until-killed.ts'), JSON.stringify(place), `${family}`);
        await once(refreshing, 'message');
        return refreshing;
      }),
    );
    for (const [family, refreshing] of started.entries()) {
      await connected(storage, `${family}`);
      let held = 0;
      refreshing.on('message', (use) => {
        held = Number(use);
      });
      refreshing.send('go');
      await once(refreshing, 'message');
      await setTimeout(5 + family * 7);
      refreshing.kill('SIGKILL');
      await once(refreshing, 'exit');
      const next = `${family} ${held + 1}`;
      const token = `${family} after`;
      expect(await refresh(storage, `${family} ${held}`, next, { token }), `token ${held}`).toBe('refreshed');
      expect(await isLive(storage, sampleToken(token))).toBe(true);
      expect(await refresh(storage, next, `${next} later`)).toBe('refreshed');
    }
  });

  test('processes that count in one hour add up, and one that is killed loses only what it had not stored', async () => {
    const { place, open } = stage();
    const { hourlyCounts } = await open();
    const [rounds, hour] = [50, 500_000 * 3_600_000];
    const counting = await Promise.all(
      [0, 1, 2].map(async () => {
        const process = child(shared('count.ts'), JSON.stringify(place), `${rounds}`, `${hour}`);
        await once(process, 'message');
        return process;
      }),
    );
    await Promise.all(
      counting.map(async (process) => {
        process.send('go');
        await once(process, 'message');
      }),
    );
    const [killed, ...others] = counting;
    killed?.kill('SIGKILL');
    for (const process of others) process.send('end');
    await Promise.all(counting.map((process) => process.exitCode ?? once(process, 'exit')));
    const rows = await hourlyCounts.read({ from: hour, to: hour + 3_600_000, periodMs: 3_600_000 });
    const total = 3 * rounds * 10 + 2 * 10;
    expect(rows).toEqual([{ at: hour, name: 'sign_ins', mode: 'live', total, peak: 10 }]);
  });

  /**
   * Starts processes with a provider, each of which rotates a signing key or passes notices to the host
   * application. Collects the ids that the processes report.
   */
  async function notifying(place: Place, given: readonly (readonly string[])[]) {
    const sealingKey = randomBytes(32).toString('base64url');
    const heard: unknown[] = [];
    const start = async (args: readonly string[]): Promise<ChildProcess> => {
      const process = child(shared('notify.ts'), JSON.stringify(place), sealingKey, ...args);
      await once(process, 'message');
      process.on('message', (id) => heard.push(id));
      process.send('go');
      return process;
    };
    return { heard, start, processes: await Promise.all(given.map(start)) };
  }

  async function ended(processes: readonly ChildProcess[]): Promise<void> {
    for (const process of processes) process.send('end');
    await Promise.all(processes.map((process) => process.exitCode ?? once(process, 'exit')));
  }

  test('two processes pass each notice on once, while neither fails', async () => {
    const { place, open } = stage();
    const { partners, apiKeys, queue } = await open();
    await partners.insert(samplePartner());
    const labels = Array.from({ length: 30 }, (_, index) => `${index}`);
    const expiresAt = Date.now() + 3_600_000;
    for (const label of labels) await apiKeys.insert(sampleApiKey(label, { expiresAt }));
    const { heard, processes } = await notifying(place, [['work'], ['work']]);
    await expect.poll(() => heard.length, { timeout: 20_000 }).toBe(labels.length);
    await ended(processes);
    expect(new Set(heard)).toEqual(new Set(labels.map((label) => `api_key.ending:key_${label}`)));
    const later = { now: Date.now() + 3_600_000, leaseMs: 0, limit: 9 };
    expect(await queue.claim({ ...later, kinds: ['notice'], claimId: 'c' })).toEqual([]);
  });

  test('a notice outlives the process that caused it, and one that is killed while it passes it on', async () => {
    const { place } = stage();
    const { heard, start, processes } = await notifying(place, [['rotate']]);
    await expect.poll(() => heard.length, { timeout: 20_000 }).toBe(1);
    processes[0]?.kill('SIGKILL');
    const notice = `signing_key.rotated:${heard[0]}`;
    const hanging = await start(['hang']);
    await expect.poll(() => heard.slice(1), { timeout: 20_000 }).toEqual([notice]);
    hanging.kill('SIGKILL');
    // The clock of the next process is ahead, so that the lease of the killed one is over.
    const next = await start(['work', '31000']);
    await expect.poll(() => heard.slice(1), { timeout: 20_000 }).toEqual([notice, notice]);
    await ended([next]);
  });
}
