import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import { createOutageLog, type OutageLog } from '../telemetry/outage-log.ts';

const intervalMs = 10_000;

/** Smallest change in milliseconds that no clock makes by running too fast or too slow between two measurements. */
const jumpMs = 1_000;

/**
 * The clock of a database that many machines share, whose own clocks may differ: the time that passed here, added to the last time
 * that the database returned. It is measured at the start and every ten seconds.
 *
 * - An answer proves a range, as wide as the answer took, and the known time is only moved into that range: a late answer
 *   proves nothing and changes nothing.
 * - The time that passed is that of the steady clock, so that setting the machine's clock changes nothing.
 * - The steady clock stands still while a machine is suspended, and the machine's clock does not. When the two move apart, the
 *   database is asked at the next reading.
 * - It follows the database in both directions; `FollowedClock` holds small steps back.
 */
export class DatabaseClock implements Clock {
  readonly #time: () => Promise<number>;
  readonly #steady: () => number;
  readonly #machine: () => number;
  readonly #logger: Logger;
  readonly #outages: OutageLog;
  #ahead: number | null = null;
  /** Milliseconds by which the machine's clock was ahead of the steady one at the last measurement. */
  #apart = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: {
    /** Asks the database. */
    readonly time: () => Promise<number>;
    readonly logger: Logger;
    /** Milliseconds that never go back, counted from anywhere. */
    readonly steady?: () => number;
    /** The clock of this machine, in milliseconds since the Unix epoch. */
    readonly machine?: () => number;
  }) {
    this.#time = options.time;
    this.#logger = options.logger;
    this.#steady = options.steady ?? (() => performance.now());
    this.#machine = options.machine ?? (() => Date.now());
    this.#outages = createOutageLog({
      logger: this.#logger,
      // The failing component is this clock itself.
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

  /** Asks for the first time; rejects when the database does not answer. From then on it is asked every ten seconds. */
  async start(): Promise<void> {
    await this.#ask();
    this.#timer = setInterval(() => void this.measure(), intervalMs).unref();
  }

  /** Asks once more. When the database does not answer, the known time goes on. */
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
