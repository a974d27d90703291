/** Waits for a turn, but not longer than the deadline. */
type Race = (turn: Promise<void>) => Promise<void>;

/**
 * Limits how many calls wait for the disk at once; the others wait in line. If the disk stands still, these
 * calls must not occupy all connections, because reads do not need the disk.
 */
export class Semaphore {
  #free: number;
  readonly #line = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Resolves when it is the caller's turn; a caller that gives up leaves the line. Must be followed by
   * `release`.
   */
  async acquire(race: Race): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    const turn = Promise.withResolvers<void>();
    this.#line.add(turn.resolve);
    try {
      await race(turn.promise);
    } catch (error) {
      // It became the caller's turn just as its time was over: pass the turn on.
      if (!this.#line.delete(turn.resolve)) this.release();
      throw error;
    }
  }

  /** Gives the turn to the next call in line. */
  release(): void {
    const [next] = this.#line;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#line.delete(next);
    next();
  }
}
