/** Time between polls for work after many polls that found none, in milliseconds. */
const idleMs = 1_000;

/**
 * Time between polls for work after work was found, in milliseconds. Work of other processes may come without
 * notification (SQLite), and often comes in bursts.
 */
const busyMs = 50;

/** Number of consecutive polls without work after which the longer interval is used. */
const patience = 100;

/** Chooses the time until the next poll for work: short during and soon after work, otherwise a second. */
export function createPace() {
  let inVain = patience;
  return {
    /** Reports how many jobs or deliveries the last poll claimed. */
    found(count: number): void {
      inVain = count > 0 ? 0 : inVain + 1;
    },
    /** Returns the time until the next poll for work, in milliseconds. */
    wait: (): number => (inVain < patience ? busyMs : idleMs),
  };
}
