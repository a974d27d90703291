import type { Clock } from '@ostiary/core';

/**
 * A length of time: milliseconds, or a number with a unit, such as `'90s'`, `'15m'`, `'2h'` or `'3d'`.
 *
 * @example
 * ```ts
 * const week: Duration = '7d';
 * ```
 */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Whole milliseconds of a length of time.
 * @throws TypeError when it is none
 */
export function milliseconds(duration: Duration): number {
  const [, digits = '', unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(String(duration)) ?? [];
  if (digits === '' || (typeof duration === 'string' && /\d$/.test(duration))) {
    throw new TypeError(`${String(duration)} is no duration; take milliseconds, or '90s', '15m', '2h', '3d'`);
  }
  return Math.round(Number(digits) * units[unit as keyof typeof units]);
}

/**
 * The clock of a test. It stands still until the test moves it, except for one millisecond with each request
 * and each sign-in, so that later events have later times.
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
  /** Now, for comparing with what the API answers. */
  date(): Date;
  /**
   * Moves on, and does on the way, each at its time, what becomes due: deliveries and their retries, executions of
   * transfers, housekeeping. Resolves when all of it is done.
   *
   * @throws TypeError when `by` is no length of time
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

/** The time of a kit: which moment it is, and at which later ones something happens. */
export class Timeline {
  readonly #work: () => Promise<void>;
  #now: number;
  #moments = new Set<number>();
  #sleepers = new Set<Sleeper>();
  #upkeepAt = Number.POSITIVE_INFINITY;
  /** Only one advance runs at a time. */
  #turn: Promise<void> = Promise.resolve();

  /** @param work - does all that is due */
  constructor(startsAt: number, work: () => Promise<void>) {
    this.#now = startsAt;
    this.#work = work;
  }

  now(): number {
    return this.#now;
  }

  /** Something becomes due at this moment. */
  expect(moment: number): void {
    if (moment > this.#now) this.#moments.add(moment);
  }

  /** Due work that no call awaits. It counts like any other, but the clock stops only once for all of it. */
  expectUpkeep(moment: number): void {
    this.#upkeepAt = moment;
  }

  /** Moves on by one millisecond, for events that must be later than others. */
  tick(): void {
    this.#now += 1;
  }

  /** Resolves when the clock has moved on by so much; rejects when the signal aborts. */
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
      // Let the work that was notified run first.
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
