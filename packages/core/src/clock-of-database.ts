import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

const intervalMs = 60_000;

/** A change that no clock makes by running too fast or too slow for a minute. */
const jumpMs = 1_000;

/**
 * The clock of a database that many machines share, whose own clocks may differ: the time that passed here, added to
 * what the database said last. It is asked at the start and every minute.
 *
 * - What an answer proves is a range, as wide as the answer took, and what is known is only moved into it: a late answer
 *   proves nothing and changes nothing.
 * - The time that passed is that of the steady clock, so that setting the machine's clock changes nothing either. (It
 *   does not count while a machine sleeps; the next measurement does.)
 * - It never goes back: where it was ahead, it stands still until the database's has caught up.
 */
export class DatabaseClock implements Clock {
  readonly #time: () => Promise<number>;
  readonly #steady: () => number;
  readonly #logger: Logger;
  #ahead: number | null = null;
  #last = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: {
    /** Asks the database. */
    readonly time: () => Promise<number>;
    readonly logger: Logger;
    /** Milliseconds that never go back, counted from anywhere. */
    readonly steady?: () => number;
  }) {
    this.#time = options.time;
    this.#logger = options.logger;
    this.#steady = options.steady ?? (() => performance.now());
  }

  now(): number {
    if (this.#ahead === null) throw new TypeError('the clock of the database was not started');
    this.#last = Math.max(this.#last, Math.floor(this.#steady() + this.#ahead));
    return this.#last;
  }

  /** Asks for the first time; rejects when the database does not answer. From then on it is asked every minute. */
  async start(): Promise<void> {
    await this.#ask();
    this.#timer = setInterval(() => void this.measure(), intervalMs).unref();
  }

  /** Asks once more. When the database does not answer, what is known goes on to hold. */
  async measure(): Promise<void> {
    try {
      await this.#ask();
    } catch (error) {
      this.#logger.warn({ err: error }, 'the time of the database is not known; going on by what it was');
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #ask(): Promise<void> {
    const sent = this.#steady();
    const time = await this.#time();
    const received = this.#steady();
    if (!Number.isFinite(time)) throw new TypeError(`the storage says that the time is ${time}`);
    const [least, most] = [time - received, time - sent];
    const before = this.#ahead ?? (least + most) / 2;
    this.#ahead = Math.min(Math.max(before, least), most);
    const change = this.#ahead - before;
    if (Math.abs(change) < jumpMs) return;
    this.#logger.warn({ changeMs: Math.round(change) }, 'the clock of the database was changed');
  }
}
