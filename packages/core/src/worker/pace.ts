/** Time between polls after many polls that found nothing, in milliseconds. */
const idleMs = 1_000;

/**
 * Time between polls after work was found, in milliseconds. Work of other processes comes without
 * notification, and often in bursts.
 */
const busyMs = 50;

/** Number of consecutive empty polls after which the longer interval is used. */
const patience = 100;

/** Chooses the time until the next poll: short while there is work, a second otherwise. */
export function createPace() {
  let inVain = patience;
  return {
    /** Reports how many jobs or deliveries the last poll found. */
    found(count: number): void {
      inVain = count > 0 ? 0 : inVain + 1;
    },
    /** Returns the time until the next poll, in milliseconds. */
    wait: (): number => (inVain < patience ? busyMs : idleMs),
  };
}
