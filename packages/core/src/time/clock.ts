import type { Clock } from '../ports/clock.ts';

/** Clock of this machine. */
export const systemClock: Clock = { now: () => Date.now() };

/** Formats a time in milliseconds since the Unix epoch as ISO 8601, as all APIs of this package do. */
export const iso = (time: number): string => new Date(time).toISOString();

/** Largest step back of a clock during which time stands still instead, in milliseconds. */
const heldBackMs = 2_000;

/**
 * Largest difference between the clocks of two processes on one storage, in milliseconds, including the time
 * for which a call waits. A stored time that is further in the future than it can be, by more than this, was
 * stored before the clock went back.
 */
export const clockToleranceMs = 5_000;

/**
 * Checks whether something that lasts for `lengthMs` and ends at `endsAt` is still going on. If it ends later
 * than possible, it began before the clock went back. It then counts as over, because its true age is
 * unknown.
 */
export function goesOn(endsAt: number, now: number, lengthMs: number): boolean {
  return endsAt > now && endsAt <= now + lengthMs + clockToleranceMs;
}

/**
 * Clock on a source that may be set: by hand, by NTP, by a failover to a machine whose clock differs. After a
 * step back of up to two seconds, the time stands still until the source has caught up. A larger step back is
 * followed, because standing still for long would stop everything that waits for a time. Steps ahead are
 * followed at once.
 */
export class FollowedClock implements Clock {
  readonly #source: Clock;
  #latest = Number.NEGATIVE_INFINITY;
  #listener: (backMs: number) => void = () => {};

  constructor(source: Clock) {
    this.#source = source;
  }

  now(): number {
    const time = this.#source.now();
    const backMs = this.#latest - time;
    if (backMs > 0 && backMs <= heldBackMs) return this.#latest;
    this.#latest = time;
    if (backMs > 0 && Number.isFinite(backMs)) this.#listener(backMs);
    return time;
  }

  /**
   * Sets the listener that is called after each larger step back, with its length in milliseconds. There is
   * one listener.
   */
  onStepBack(listener: (backMs: number) => void): void {
    this.#listener = listener;
  }
}
