/** Where nothing was found for a while, in milliseconds. */
const idleMs = 1_000;

/** Where something was found lately: what other processes enqueue tells nobody, and often comes in bursts. */
const busyMs = 50;

/** Looks in vain after which it is quiet. */
const patience = 100;

/** How long to wait before the next look for work: often while there is some, and once a second while there is none. */
export function createPace() {
  let inVain = patience;
  return {
    /** Says what the last look found. */
    found(count: number): void {
      inVain = count > 0 ? 0 : inVain + 1;
    },
    /** Milliseconds. */
    wait: (): number => (inVain < patience ? busyMs : idleMs),
  };
}
