import { memoryStorage } from '@ostiary/testing/memory';
import { expect, it, onTestFinished } from 'vitest';
import { createHourlyCounts } from '../../src/telemetry/hourly-counts.ts';
import { fragileStorage } from '../support/fragile-storage.ts';

const hourMs = 3_600_000;

/** Makes counters on a real storage, at the beginning of an hour, with timers that the test fires. */
async function counters() {
  const database = fragileStorage(memoryStorage());
  await database.storage.open();
  onTestFinished(() => database.storage.close());
  const timers = new Set<{ readonly fire: () => void; readonly ms: number }>();
  const lines: string[] = [];
  const log = (_fields: object, message: string) => void lines.push(message);
  const time = { now: 480_000 * hourMs };
  const start = time.now;
  const counts = createHourlyCounts({
    store: database.storage.hourlyCounts,
    clock: { now: () => time.now },
    logger: { debug: log, info: log, warn: log, error: log },
    schedule(fire, ms) {
      const timer = { fire, ms };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
  });
  const read = async () => {
    const range = { from: start - 24 * hourMs, to: start + 24 * hourMs, periodMs: hourMs };
    const rows = await database.storage.hourlyCounts.read(range);
    return rows.map(({ at, name, mode, total, peak }) => [(at - start) / hourMs, mode, name, total, peak]);
  };
  return { counts, database, timers, lines, time, read };
}

it('collects counts for five seconds, and stores them with one call; an idle process stores nothing', async () => {
  const { counts, database, timers, read } = await counters();
  await counts.flush();
  expect([database.calls.filter((call) => call === 'hourlyCounts.add'), timers.size]).toEqual([[], 0]);
  for (let number = 0; number < 1_000; number += 1) counts.add('sign_ins', 'live');
  counts.add('requests', 'test');
  for (const wait of [5, 900, 30]) counts.measure('wait_ms', 'live', wait);
  expect([...timers].map(({ ms }) => ms)).toEqual([5_000]);
  for (const { fire } of timers) fire();
  await counts.flush();
  expect(database.calls.filter((call) => call === 'hourlyCounts.add')).toHaveLength(1);
  expect(timers.size).toBe(0);
  expect(await read()).toEqual([
    [0, 'test', 'requests', 1, 1],
    [0, 'live', 'sign_ins', 1_000, 1_000],
    [0, 'live', 'wait_ms', 900, 900],
  ]);
});

it('counts in the hour that the clock shows, wherever it was set', async () => {
  const { counts, time, read } = await counters();
  for (const step of [hourMs - 1, 1, -3 * hourMs]) {
    time.now += step;
    counts.add('requests', 'live');
    await counts.flush();
  }
  expect(await read()).toEqual([
    [-2, 'live', 'requests', 1, 1],
    [0, 'live', 'requests', 1, 1],
    [1, 'live', 'requests', 1, 1],
  ]);
});

it('keeps counts while they cannot be stored, and tries again', async () => {
  const { counts, database, timers, lines, read } = await counters();
  database.breakWhen((call) => call === 'hourlyCounts.add');
  counts.add('requests', 'live');
  counts.measure('wait_ms', 'live', 70);
  await counts.flush();
  counts.add('requests', 'live');
  counts.measure('wait_ms', 'live', 40);
  await counts.flush();
  expect([lines, timers.size]).toEqual([
    ['hourly counts could not be stored; they are kept and tried again'],
    1,
  ]);
  database.breakWhen(null);
  await counts.flush();
  expect(lines.at(-1)).toBe('hourly counts can be stored again');
  expect(await read()).toEqual([
    [0, 'live', 'requests', 2, 2],
    [0, 'live', 'wait_ms', 70, 70],
  ]);
});

it('stores what is left at the end, after a write that is under way, and starts no timer then', async () => {
  const { counts, database, timers, read } = await counters();
  const { promise: held, resolve: release } = Promise.withResolvers<false>();
  database.breakWhen(() => held);
  counts.add('sign_ins', 'live');
  const first = counts.flush();
  await new Promise((resolve) => setImmediate(resolve));
  counts.add('sign_ins', 'live');
  const closed = counts.close();
  release(false);
  await Promise.all([first, closed]);
  database.breakWhen(null);
  expect(await read()).toEqual([[0, 'live', 'sign_ins', 2, 1]]);
  counts.add('sign_ins', 'live');
  expect(timers.size).toBe(0);
});
