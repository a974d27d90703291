import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { DatabaseClock } from '../src/clock-of-database.ts';
import { silentLogger } from '../src/index.ts';

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

  it('goes on as it was when an answer is late, missing or nonsense, and says of the last two in the log', async () => {
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
    for (const [ms, times] of [
      [59_999, 1],
      [1, 2],
      [60_000, 3],
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
