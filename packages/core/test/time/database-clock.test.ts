import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { patient } from '../../../../lab/support/patient.ts';
import { silentLogger } from '../../src/index.ts';
import { DatabaseClock } from '../../src/time/database-clock.ts';

const hour = 3_600_000;

/** Simulates a database with its own clock, and a network delay in both directions. */
function farDatabase({ ahead = 2 * hour } = {}) {
  const machine = { steady: 5_000.5, apart: 3 * hour };
  const database = { ahead, there: 10, back: 10, error: null as Error | null, asked: 0, during: () => {} };
  const warnings: (readonly [object, string])[] = [];
  const warn = (fields: object, text: string) => void warnings.push([fields, text]);
  const clock = new DatabaseClock({
    time: async () => {
      database.asked += 1;
      if (database.error !== null) throw database.error;
      machine.steady += database.there;
      const time = machine.steady + database.ahead;
      machine.steady += database.back;
      database.during();
      return time;
    },
    steady: () => machine.steady,
    machine: () => machine.steady + machine.apart,
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

  it.each([
    [10, 10, 1],
    [400, 0, 201],
    [0, 400, 201],
  ])(
    'is followed from the start, %d ms away and %d ms back, to %d ms, in whole ones',
    async (there, back, most) => {
      const { clock, database, machine, error } = farDatabase();
      Object.assign(database, { there, back });
      await clock.start();
      expect(Math.abs(error())).toBeLessThanOrEqual(most);
      const before = clock.now();
      expect(Number.isInteger(before)).toBe(true);
      machine.steady += 1_000;
      expect(clock.now()).toBe(before + 1_000);
    },
  );

  it('continues unchanged if a response is late, missing or invalid, and logs this once', async () => {
    const { clock, database, error, warnings } = farDatabase();
    await clock.start();
    Object.assign(database, { there: 20_000, back: 0 });
    await clock.measure();
    expect(Math.abs(error())).toBeLessThanOrEqual(1);
    Object.assign(database, { there: 10, back: 10 });
    database.error = new Error('down');
    await clock.measure();
    database.error = null;
    database.ahead = Number.NaN;
    await clock.measure();
    database.ahead = 2 * hour;
    expect(Math.abs(error())).toBeLessThanOrEqual(1);
    expect(warnings.map(([, text]) => text)).toEqual([
      'the time of the database is not known; going on by what it was',
    ]);
  });

  it.each([-5_000, -hour, 5_000, 24 * hour])('is followed when it was set by %d ms', async (step) => {
    const { clock, database, error, warnings } = farDatabase();
    await clock.start();
    database.ahead += step;
    await clock.measure();
    expect(Math.abs(error())).toBeLessThanOrEqual(11);
    expect(warnings).toEqual([[{ changeMs: expect.any(Number) }, 'the clock of the database was changed']]);
  });

  it('is read again after this machine was suspended, during which the steady clock stops', async () => {
    const { clock, database, machine, error } = farDatabase();
    await clock.start();
    const { asked } = database;
    clock.now();
    expect(database.asked).toBe(asked);
    machine.apart += 8 * hour;
    database.ahead += 8 * hour;
    clock.now();
    await vi.waitFor(() => expect(Math.abs(error())).toBeLessThanOrEqual(11), patient);
    clock.now();
    expect(database.asked).toBe(asked + 1);
  });

  it('is asked again where the machine was suspended during a measurement', async () => {
    const { clock, database, machine, error } = farDatabase();
    await clock.start();
    database.during = () => {
      machine.apart += hour;
      database.ahead += hour;
    };
    await clock.measure();
    database.during = () => {};
    clock.now();
    await vi.waitFor(() => expect(Math.abs(error())).toBeLessThanOrEqual(11), patient);
  });

  it('is not asked at readings after it was stopped', async () => {
    const { clock, database, machine } = farDatabase();
    await clock.start();
    clock.stop();
    const { asked } = database;
    machine.apart += hour;
    clock.now();
    expect(database.asked).toBe(asked);
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

  it('is asked again every ten seconds until it is stopped', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { clock, database } = farDatabase();
    await clock.start();
    const each = database.asked;
    for (const [ms, times] of [
      [9_999, 1],
      [1, 2],
      [10_000, 3],
    ] as const) {
      await vi.advanceTimersByTimeAsync(ms);
      expect(database.asked).toBe(times * each);
    }
    clock.stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('the clock of a database is not moved by a step of the machine’s, unless it is given another steady one', async () => {
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ['Date'] });
  const clock = new DatabaseClock({ time: async () => 1_000_000, logger: silentLogger });
  onTestFinished(() => clock.stop());
  await clock.start();
  vi.setSystemTime(Date.now() + 10 * hour);
  expect(Math.abs(clock.now() - 1_000_000)).toBeLessThan(hour);
});
