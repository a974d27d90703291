/** Function that waits for a place of the semaphore, but not longer than the deadline. */
type Race = (turn: Promise<void>) => Promise<void>;

/**
 * Limits how many database calls wait for the disk at once; other such calls wait in line. If the disk does
 * not respond, these calls must not occupy all connections, because reads do not need the disk.
 */
export class Semaphore {
  #free: number;
  readonly #line = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Resolves when the call may go on, and must then be followed by `release`. Rejects when `race` does; the
   * call then leaves the line.
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

  /** Lets the next call in line go on. */
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
