/** What happens at which time; nothing happens in between, so hours take seconds. */
export type Agenda = ReturnType<typeof createAgenda>;

interface Entry {
  readonly time: number;
  readonly turn: number;
  readonly act: () => void;
}

const isBefore = (a: Entry, b: Entry): boolean => a.time < b.time || (a.time === b.time && a.turn < b.turn);

/** An agenda that begins at 0, in milliseconds. What is due at the same time happens in the order in which it was put there. */
export function createAgenda() {
  // A binary heap, the earliest entry first.
  const heap: Entry[] = [];
  const cancelled = new WeakSet<Entry>();
  let now = 0;
  let turns = 0;

  function put(entry: Entry): void {
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || !isBefore(entry, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = entry;
  }

  function takeFirst(): void {
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const [first, second] = [heap[left], heap[left + 1]];
      const child = first !== undefined && second !== undefined && isBefore(second, first) ? left + 1 : left;
      const below = heap[child];
      if (below === undefined || !isBefore(below, last)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
  }

  return {
    now: () => now,
    /** @returns how to call it off */
    after(ms: number, act: () => void): () => void {
      turns += 1;
      const entry = { time: now + Math.max(0, ms), turn: turns, act };
      put(entry);
      return () => void cancelled.add(entry);
    },
    /** Lets the next thing happen. @returns `false` when there is none until then */
    proceed(until: number): boolean {
      const [entry] = heap;
      if (entry === undefined || entry.time > until) return false;
      takeFirst();
      now = entry.time;
      if (!cancelled.has(entry)) entry.act();
      return true;
    },
  };
}
