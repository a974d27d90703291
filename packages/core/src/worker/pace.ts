/** How long to wait before the next look for work, in milliseconds. */
export interface Pace {
  /** Says what the last look found. */
  found(count: number): void;
  /** Says how long it took, in milliseconds. */
  took(ms: number): void;
  wait(): number;
}

/** Where nothing was found for a while. */
export const idleMs = 1_000;

/** Where something was found lately: what other processes enqueue tells nobody, and often comes in bursts. */
export const busyMs = 50;

/** Looks in vain after which it is quiet. */
const patience = 100;

/** After a slow look nobody looks for so many times as long, up to `idleMs`. */
const rest = 10;

/**
 * Looks often while there is work, unless the database is slow to answer, and once a second while there is none.
 */
export function createPace(): Pace {
  let inVain = patience;
  let lookMs = 0;
  return {
    found(count) {
      inVain = count > 0 ? 0 : inVain + 1;
    },
    took(ms) {
      lookMs = ms;
    },
    wait: () => (inVain < patience ? Math.min(idleMs, Math.max(busyMs, rest * lookMs)) : idleMs),
  };
}
