import type { Clock } from '@ostiary/core';

/**
 * A duration: milliseconds, or a number with a unit, such as `'90s'`, `'15m'`, `'2h'` or `'3d'`.
 *
 * @example
 * ```ts
 * const week: Duration = '7d';
 * ```
 */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Converts a duration to whole milliseconds.
 * @throws TypeError if the value is not a duration
 */
export function milliseconds(duration: Duration): number {
  const [, digits = '', unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(String(duration)) ?? [];
  if (digits === '' || (typeof duration === 'string' && /\d$/.test(duration))) {
    throw new TypeError(`${String(duration)} is no duration; take milliseconds, or '90s', '15m', '2h', '3d'`);
  }
  return Math.round(Number(digits) * units[unit as keyof typeof units]);
}

/**
 * Clock of a test. It stands still until the test advances it, except that each request that the test sends and
 * each sign-in add a millisecond, so that later events have later times.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const before = kit.clock.now();
 * await kit.clock.advance('90s');
 * console.log(kit.clock.now() - before); // 90000
 * ```
 */
export interface TestClock extends Clock {
  /** Returns the current time of the test kit, to compare with times in API responses. */
  date(): Date;
  /**
   * Advances the clock and runs work that becomes due in the meantime, each at its time: deliveries and their
   * retries, executions of transfers. Housekeeping that becomes due runs once, at the end or with earlier work.
   * Resolves when all of this is done.
   *
   * @throws TypeError if `by` is not a duration
   * @example
   * ```ts
   * const kit = await createTestOstiary();
   * await kit.clock.advance('2h');
   * await kit.clock.advance(1_500);
   * ```
   */
  advance(by: Duration): Promise<void>;
}

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

/** Time of a test kit: the current time, and the later times at which work becomes due. */
export class Timeline {
  readonly #work: () => Promise<void>;
  #now: number;
  #moments = new Set<number>();
  #sleepers = new Set<Sleeper>();
  #upkeepAt = Number.POSITIVE_INFINITY;
  /** Resolves when the running advance of the clock has ended. Only one runs at a time. */
  #turn: Promise<void> = Promise.resolve();

  /** Creates the time of a test kit. @param work - runs all work that is due */
  constructor(startsAt: number, work: () => Promise<void>) {
    this.#now = startsAt;
    this.#work = work;
  }

  now(): number {
    return this.#now;
  }

  /** Records that work becomes due at a time. */
  expect(moment: number): void {
    if (moment > this.#now) this.#moments.add(moment);
  }

  /**
   * Records that housekeeping becomes due at a time. An advance of the clock stops for housekeeping only
   * once, at the end.
   */
  expectUpkeep(moment: number): void {
    this.#upkeepAt = moment;
  }

  /** Advances the time by one millisecond, so that the next event is later than the previous one. */
  tick(): void {
    this.#now += 1;
  }

  /** Resolves when the test's clock has advanced by `ms`; rejects if the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void> {
    const until = this.#now + ms;
    return new Promise((resolve, reject) => {
      const sleeper: Sleeper = {
        until,
        wake: () => {
          signal.removeEventListener('abort', give);
          this.#sleepers.delete(sleeper);
          resolve();
        },
      };
      const give = (): void => {
        this.#sleepers.delete(sleeper);
        reject(signal.reason);
      };
      if (signal.aborted) return give();
      signal.addEventListener('abort', give, { once: true });
      this.#sleepers.add(sleeper);
    });
  }

  async advance(by: Duration): Promise<void> {
    const ms = milliseconds(by);
    const turn = this.#turn.then(() => this.#advanceTo(this.#now + ms));
    this.#turn = turn.catch(() => undefined);
    await turn;
  }

  async #advanceTo(end: number): Promise<void> {
    await this.#work();
    for (let next = this.#next(end); next !== null; next = this.#next(end)) {
      this.#now = Math.max(next, this.#now);
      this.#moments.delete(next);
      const awake = [...this.#sleepers].filter(({ until }) => until <= this.#now);
      for (const { wake } of awake) wake();
      // Let the work that was just resumed run first.
      if (awake.length > 0) await new Promise((resolve) => setImmediate(resolve));
      await this.#work();
    }
    this.#now = Math.max(end, this.#now);
    if (this.#upkeepAt <= this.#now) await this.#work();
  }

  #next(end: number): number | null {
    let next: number | null = null;
    const moments = [...this.#moments, ...Array.from(this.#sleepers, ({ until }) => until)];
    for (const moment of moments) if (moment <= end && (next === null || moment < next)) next = moment;
    return next;
  }
}
