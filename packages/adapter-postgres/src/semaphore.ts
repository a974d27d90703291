/** Rejects when a promise takes too long. */
type Race = (turn: Promise<void>) => Promise<void>;

/**
 * So many at once; the others wait in line. For calls that wait for the disk: when it stands still they must not have all
 * the connections, because what only reads needs none of it.
 */
export class Semaphore {
  #free: number;
  readonly #line = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves when it is this one's turn; who gives up leaves the line. To be followed by `release`. */
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
      // Called up in the very moment in which the time was over.
      if (!this.#line.delete(turn.resolve)) this.release();
      throw error;
    }
  }

  /** Calls up the next in line. */
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
