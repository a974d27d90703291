/** Time between polls after some polls found nothing, in milliseconds. */
const idleMs = 1_000;

/**
 * Time between polls after work was found. Work of other processes comes without notice, and often in bursts.
 */
const busyMs = 50;

/** Number of empty polls after which it is quiet. */
const patience = 100;

/** Chooses the time to the next poll: short while there is work, and a second while there is none. */
export function createPace() {
  let inVain = patience;
  return {
    /** Reports the result of the last poll. */
    found(count: number): void {
      inVain = count > 0 ? 0 : inVain + 1;
    },
    /** Milliseconds. */
    wait: (): number => (inVain < patience ? busyMs : idleMs),
  };
}
