import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

const intervalMs = 60_000;

/** Of so many answers the fastest counts: the less time one took, the less is unknown of when it was true. */
const samples = 3;

/** A change that no clock makes by running too fast or too slow for a minute. */
const jumpMs = 1_000;

/** By how much the database's clock is ahead of the steady one: a range, as wide as the answer took. */
interface Range {
  readonly low: number;
  readonly high: number;
}

/**
 * The clock of a database that many machines share, whose own clocks may differ: the time that passed here, added to
 * what the database said last. It is asked at the start and every minute.
 *
 * - What an answer proves is a range, and what is known is only moved into it: a late answer proves nothing and changes
 *   nothing.
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
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(options: {
    /** Asks the database. */
    readonly time: () => Promise<number>;
    readonly logger: Logger;
    /** Milliseconds that never go back, counted from anywhere. */
    readonly steady?: () => number;
  }) {
    const { time, logger, steady = () => performance.now() } = options;
    this.#time = time;
    this.#logger = logger;
    this.#steady = steady;
  }

  now(): number {
    if (this.#ahead === null) throw new TypeError('the clock of the database was not started');
    this.#last = Math.max(this.#last, Math.floor(this.#steady() + this.#ahead));
    return this.#last;
  }

  /** Asks for the first time; rejects when the database does not answer. From then on it is asked every minute. */
  async start(): Promise<void> {
    this.#follow(await this.#ask());
    this.#schedule();
  }

  /** Asks once more. When the database does not answer, what is known goes on to hold. */
  async measure(): Promise<void> {
    try {
      this.#follow(await this.#ask());
    } catch (error) {
      if (this.#isStopped) return;
      this.#logger.warn({ err: error }, 'the time of the database is not known; going on by what it was');
    }
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      void this.measure().then(() => this.#schedule());
    }, intervalMs);
    this.#timer.unref();
  }

  async #ask(): Promise<Range> {
    let narrowest = await this.#sample();
    for (let count = 1; count < samples; count += 1) {
      const range = await this.#sample();
      if (range.high - range.low < narrowest.high - narrowest.low) narrowest = range;
    }
    return narrowest;
  }

  async #sample(): Promise<Range> {
    const sent = this.#steady();
    const time = await this.#time();
    const received = this.#steady();
    if (!Number.isFinite(time)) throw new TypeError(`the storage says that the time is ${time}`);
    return { low: time - received, high: time - sent };
  }

  #follow({ low, high }: Range): void {
    const before = this.#ahead;
    this.#ahead = before === null ? (low + high) / 2 : Math.min(Math.max(before, low), high);
    const change = before === null ? 0 : this.#ahead - before;
    if (Math.abs(change) < jumpMs) return;
    this.#logger.warn({ changeMs: Math.round(change) }, 'the clock of the database was changed');
  }
}
