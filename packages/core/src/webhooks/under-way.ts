/** What ends by itself, or at a certain time. */
export interface Limited {
  /** Where it stands among those under way. */
  place: number;
  /** When its time is over. */
  deadline: number;
  /** Its time is over: it has to end now. */
  expire(): void;
}

/**
 * What is under way, under one timer for all: next to nothing reaches its deadline, and a timer for each costs more than
 * everything else here. In an array in which each knows its place, for the reason that `Connections` has none but arrays.
 */
export class UnderWay<Item extends Limited> {
  readonly #now: () => number;
  readonly #items: Item[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** When the timer looks at deadlines; some may have come off meanwhile. */
  #looksAt = Number.POSITIVE_INFINITY;

  /** @param now - the clock of the deadlines, in milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Those under way at this moment. */
  get all(): Item[] {
    return [...this.#items];
  }

  add(item: Item): void {
    item.place = this.#items.length;
    this.#items.push(item);
    this.watch(item);
  }

  /** To be called when the deadline of an item has changed. */
  watch({ deadline }: Item): void {
    if (deadline < this.#looksAt) this.#lookAt(deadline);
  }

  remove(item: Item): void {
    const last = this.#items.pop() ?? item;
    if (last !== item) {
      this.#items[item.place] = last;
      last.place = item.place;
    }
    if (this.#items.length === 0) this.#lookAt(Number.POSITIVE_INFINITY);
  }

  #lookAt(time: number): void {
    clearTimeout(this.#timer);
    this.#looksAt = time;
    if (time < Number.POSITIVE_INFINITY) {
      this.#timer = setTimeout(() => this.#look(), Math.ceil(time - this.#now()));
    }
  }

  #look(): void {
    const now = this.#now();
    for (const item of this.all) if (item.deadline <= now) item.expire();
    const next = this.#items.reduce(
      (time, { deadline }) => Math.min(time, deadline),
      Number.POSITIVE_INFINITY,
    );
    this.#lookAt(next);
  }
}
