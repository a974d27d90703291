import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import { createOutageLog, type OutageLog } from '../telemetry/outage-log.ts';

const intervalMs = 10_000;

/**
 * Change of a clock between two measurements from which it must have been set, in milliseconds: normal drift
 * is always smaller.
 */
const jumpMs = 1_000;

/**
 * Clock of a database that many machines with differing clocks share. Its time is the last time that the
 * database returned plus the time passed since. The database is queried at start and every ten seconds.
 *
 * - A query proves that the time is in a range as wide as the query took. The known time is only moved into that range,
 *   so that a slow query changes nothing.
 * - The passed time is measured with the steady clock, so that setting the machine's clock changes nothing.
 * - The steady clock stands still while a machine is suspended, but the machine's clock does not. If the two differ, the
 *   database is queried at the next reading.
 * - Follows the database in both directions; `FollowedClock` prevents small steps back.
 */
export class DatabaseClock implements Clock {
  readonly #time: () => Promise<number>;
  readonly #steady: () => number;
  readonly #machine: () => number;
  readonly #logger: Logger;
  readonly #outages: OutageLog;
  #ahead: number | null = null;
  /**
   * Difference between the machine's clock and the monotonic clock at the last measurement, in milliseconds.
   */
  #apart = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: {
    /** Queries the time of the database. */
    readonly time: () => Promise<number>;
    readonly logger: Logger;
    /** Returns milliseconds of a monotonic clock, which never goes back and has an arbitrary start. */
    readonly steady?: () => number;
    /** Returns the time of this machine, in milliseconds since the Unix epoch. */
    readonly machine?: () => number;
  }) {
    this.#time = options.time;
    this.#logger = options.logger;
    this.#steady = options.steady ?? (() => performance.now());
    this.#machine = options.machine ?? (() => Date.now());
    this.#outages = createOutageLog({
      logger: this.#logger,
      // Do not use this clock here: it is the component that fails.
      clock: { now: this.#steady },
      failing: 'the time of the database is not known; going on by what it was',
      working: 'the time of the database is known again',
    });
  }

  now(): number {
    if (this.#ahead === null) throw new TypeError('the clock of the database was not started');
    const steady = this.#steady();
    const apart = this.#machine() - steady;
    if (this.#timer !== undefined && Math.abs(apart - this.#apart) >= jumpMs) {
      this.#apart = apart;
      void this.measure();
    }
    return Math.floor(steady + this.#ahead);
  }

  /**
   * Queries the time of the database for the first time; rejects if the database does not respond. Afterwards
   * queries it every ten seconds.
   */
  async start(): Promise<void> {
    await this.#ask();
    this.#timer = setInterval(() => void this.measure(), intervalMs).unref();
  }

  /**
   * Queries the time of the database once more. If the database does not respond, the clock continues from
   * the last known time.
   */
  async measure(): Promise<void> {
    try {
      await this.#ask();
      this.#outages.succeeded();
    } catch (error) {
      this.#outages.failed(error);
    }
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #ask(): Promise<void> {
    const sent = this.#steady();
    const apart = this.#machine() - sent;
    const time = await this.#time();
    const received = this.#steady();
    if (!Number.isFinite(time)) throw new TypeError(`the storage says that the time is ${time}`);
    this.#apart = apart;
    const [least, most] = [time - received, time - sent];
    const before = this.#ahead ?? (least + most) / 2;
    this.#ahead = Math.min(Math.max(before, least), most);
    const change = this.#ahead - before;
    if (Math.abs(change) < jumpMs) return;
    this.#logger.warn({ changeMs: Math.round(change) }, 'the clock of the database was changed');
  }
}
