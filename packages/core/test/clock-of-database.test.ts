import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { DatabaseClock } from '../src/clock-of-database.ts';
import { type OstiaryOptions, silentLogger } from '../src/index.ts';
import type { Storage } from '../src/storage.ts';
import { ana } from './support/directory.ts';
import { fragileStorage } from './support/fragile-storage.ts';
import { startProvider } from './support/running.ts';

const hour = 3_600_000;

/** A database with a clock of its own, which takes its time on the way there and back. */
function farDatabase({ ahead = 2 * hour } = {}) {
  const machine = { steady: 5_000.5 };
  const database = { ahead, there: 10, back: 10, error: null as Error | null, asked: 0 };
  const warnings: (readonly [object, string])[] = [];
  const warn = (fields: object, text: string) => void warnings.push([fields, text]);
  const clock = new DatabaseClock({
    time: async () => {
      database.asked += 1;
      if (database.error !== null) throw database.error;
      machine.steady += database.there;
      const time = machine.steady + database.ahead;
      machine.steady += database.back;
      return time;
    },
    steady: () => machine.steady,
    logger: { ...silentLogger, warn },
  });
  onTestFinished(() => clock.stop());
  const error = () => clock.now() - (machine.steady + database.ahead);
  return { machine, database, clock, warnings, error };
}

describe('the clock of a database', () => {
  it('is not read before it was asked for', async () => {
    const { clock, database } = farDatabase();
    expect(() => clock.now()).toThrow('not started');
    database.error = new Error('down');
    await expect(clock.start()).rejects.toThrow('down');
  });

  it('is followed from the start, in whole milliseconds, the way of the answer taken off', async () => {
    const { clock, machine, error } = farDatabase();
    await clock.start();
    expect(Math.abs(error())).toBeLessThanOrEqual(1);
    expect(Number.isInteger(clock.now())).toBe(true);
    const before = clock.now();
    machine.steady += 1_000;
    expect(clock.now()).toBe(before + 1_000);
  });

  it('is wrong by half of an answer’s time at most, also where one way takes all of it', async () => {
    for (const [there, back] of [
      [400, 0],
      [0, 400],
    ] as const) {
      const { clock, database, error } = farDatabase();
      Object.assign(database, { there, back });
      await clock.start();
      expect(Math.abs(error())).toBeLessThanOrEqual(201);
    }
  });

  it('is not moved by an answer that comes late', async () => {
    const { clock, database, error, warnings } = farDatabase();
    await clock.start();
    for (const [there, back] of [
      [0, 20_000],
      [20_000, 0],
    ] as const) {
      Object.assign(database, { there, back });
      await clock.measure();
      expect(Math.abs(error())).toBeLessThanOrEqual(1);
    }
    expect(warnings).toEqual([]);
  });

  it('goes on as it was when the database does not answer, or nonsense, and says so in the log', async () => {
    const { clock, database, error, warnings } = farDatabase();
    await clock.start();
    database.error = new Error('down');
    await clock.measure();
    database.error = null;
    database.ahead = Number.NaN;
    await clock.measure();
    database.ahead = 2 * hour;
    expect(Math.abs(error())).toBeLessThanOrEqual(1);
    expect(warnings.map(([, text]) => text)).toEqual(
      Array(2).fill('the time of the database is not known; going on by what it was'),
    );
  });

  it('never goes back: it stands still until the database has caught up', async () => {
    const { clock, database, machine, error, warnings } = farDatabase();
    await clock.start();
    const before = clock.now();
    database.ahead -= 5_000;
    await clock.measure();
    expect(clock.now()).toBe(before);
    machine.steady += 4_000;
    expect(clock.now()).toBe(before);
    machine.steady += 2_000;
    expect(clock.now()).toBeGreaterThan(before);
    expect(Math.abs(error())).toBeLessThanOrEqual(21);
    expect(warnings).toEqual([[{ changeMs: expect.any(Number) }, 'the clock of the database was changed']]);
  });

  it('is followed where it runs faster', async () => {
    const { clock, database, error, warnings } = farDatabase();
    await clock.start();
    for (let minute = 0; minute < 60; minute += 1) {
      database.ahead += 30;
      await clock.measure();
      expect(Math.abs(error())).toBeLessThanOrEqual(11);
    }
    expect(warnings).toEqual([]);
  });

  it('is asked again every minute until it is stopped', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { clock, database } = farDatabase();
    await clock.start();
    const each = database.asked;
    await vi.advanceTimersByTimeAsync(59_999);
    expect(database.asked).toBe(each);
    await vi.advanceTimersByTimeAsync(1);
    expect(database.asked).toBe(2 * each);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(database.asked).toBe(3 * each);
    clock.stop();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(database.asked).toBe(3 * each);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a provider whose machine’s clock is two hours off', () => {
  /** The time of the database: the real one, whatever `Date` says. */
  const databaseTime = {
    ahead: 0,
    now: () => performance.timeOrigin + performance.now() + databaseTime.ahead,
  };

  async function started(off: number, storage: Storage, sealingKey: Uint8Array) {
    vi.useFakeTimers({ toFake: ['Date'], now: databaseTime.now() + off });
    onTestFinished(() => void vi.useRealTimers());
    const options: Partial<OstiaryOptions> = { storage, sealingKeys: [sealingKey] };
    // What a host does that has no clock of its own: the test kit always has one.
    Reflect.set(options, 'clock', undefined);
    return startProvider(options);
  }

  it.each([
    ['behind', -2 * hour],
    ['ahead', 2 * hour],
  ])('and %s goes by the database’s: codes, tokens and what is due', async (_name, off) => {
    databaseTime.ahead = 0;
    const database = fragileStorage({ ...memoryStorage(), time: async () => databaseTime.now() });
    const { storage } = database;
    const sealingKey = randomBytes(32);
    const provider = await started(off, storage, sealingKey);
    const client = await provider.client();
    const before = databaseTime.now();
    // A sign-in is in the past by the same clock, or it is none.
    const browser = provider.browser(null);
    provider.host.signIn(browser.name, ana.sub, new Date(databaseTime.now() - 5_000));
    const token = await provider.token(client, 'openid', browser);
    const passed = databaseTime.now() - before + 1_000;
    type Issued = { readonly issuedAt: number; readonly expiresAt: number };
    const givenTo = (call: string) => database.given[database.calls.indexOf(call)]?.[0];
    const code = givenTo('grants.issue') as Issued;
    const { token: access } = givenTo('grants.redeem') as { readonly token: Issued };
    for (const { issuedAt } of [code, access]) {
      expect(issuedAt).toBeGreaterThan(before - 1_000);
      expect(issuedAt).toBeLessThan(before + passed);
    }
    expect(code.expiresAt - code.issuedAt).toBe(600_000);
    expect(access.expiresAt - access.issuedAt).toBe(hour);
    expect(await provider.isAlive(token)).toBe(true);
    // Neither does a step of the machine's clock matter.
    vi.setSystemTime(databaseTime.now() - 5 * off);
    expect(await provider.isAlive(token)).toBe(true);
    // The purge was due when the provider was started.
    expect(await provider.ostiary.worker.runDue()).toBe(1);
    expect(await provider.ostiary.worker.runDue()).toBe(0);

    databaseTime.ahead = hour;
    const later = await started(off, { ...storage, close: async () => undefined }, sealingKey);
    expect((await later.userinfo(token)).outcome).toBe('401 token_expired');
    expect(await later.ostiary.worker.runDue()).toBe(1);
  });
});
