import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { fragileStorage } from '../support/fragile-storage.ts';
import { TestClock } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

// Fake the timers of this process, except those of the database driver and of sockets.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const told = 'work has waited for more than a minute, and no worker takes it';
const lookMs = 75_000;

/** Starts processes on one storage with one clock, whose timers fire as the clock advances. */
function installation() {
  const database = fragileStorage();
  // Keep the storage open for the other processes when one closes it.
  const storage = { ...database.storage, close: async () => {} };
  const shared = { clock: new TestClock(), storage, sealingKeys: [randomBytes(32)] };

  async function start() {
    const { ostiary, logged } = await startProvider(shared);
    const lines = () =>
      logged.filter(({ level }) => level !== 'debug').map(({ level, message }) => `${level}: ${message}`);
    return { ostiary, lines };
  }

  /** Advances the test's clock in steps of a second. */
  async function pass(ms: number) {
    for (let passed = 0; passed < ms; passed += 1_000) {
      shared.clock.advance(1_000);
      await vi.advanceTimersByTimeAsync(1_000);
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
    }
  }
  return { database, start, pass };
}

it('a process that never starts its worker logs this once, if no other process has a worker', async () => {
  const { start, pass } = installation();
  const { lines } = await start();
  await pass(2 * lookMs - 1_000);
  expect(lines()).toEqual([]);
  await pass(1_000);
  expect(lines()).toEqual([expect.stringContaining(`warn: ${told}`)]);
  await pass(4 * lookMs);
  expect(lines()).toHaveLength(1);
});

it('no process logs it while a worker runs in another process, and all do once it has ended', async () => {
  const { start, pass } = installation();
  const web = await start();
  const another = await start();
  const worker = await start();
  worker.ostiary.worker.start();
  await pass(5 * lookMs);
  expect([...web.lines(), ...another.lines(), ...worker.lines()]).toEqual([]);
  await worker.ostiary.close();
  await pass(6 * lookMs);
  expect([web.lines().length, another.lines().length]).toEqual([1, 1]);
});

it.each(['start', 'runDue'] as const)(
  'a process that has called worker.%s does not check for other workers',
  async (call) => {
    const { database, start, pass } = installation();
    const { ostiary, lines } = await start();
    await ostiary.worker[call]();
    await ostiary.worker.stop();
    await pass(4 * lookMs);
    expect(lines()).toEqual([]);
    const enqueued = database.given.filter((_, index) => database.calls[index] === 'queue.enqueue');
    expect(enqueued).toMatchObject([[[{ kind: 'purge' }]]]);
  },
);

it('a worker that something runs every minute is enough', async () => {
  const { start, pass } = installation();
  const web = await start();
  for (let minute = 0; minute < 8; minute += 1) {
    const { ostiary } = await start();
    await ostiary.worker.runDue();
    await ostiary.close();
    await pass(60_000);
  }
  expect(web.lines()).toEqual([]);
});

it('a database that cannot be reached is no reason, and is asked again', async () => {
  const { database, start, pass } = installation();
  const { lines } = await start();
  database.breakWhen((call) => call === 'queue.claim');
  await pass(5 * lookMs);
  expect(lines()).toEqual([]);
  database.breakWhen(null);
  await pass(3 * lookMs);
  expect(lines()).toEqual([expect.stringContaining(told)]);
});
