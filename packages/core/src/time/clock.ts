import type { Clock } from '../ports/clock.ts';

/** Clock of this machine. */
export const systemClock: Clock = { now: () => Date.now() };

/** Starts a timer with a delay in milliseconds. Returns a function that cancels it. */
export type Schedule = (callback: () => void, ms: number) => () => void;

/** Starts a timer of Node that does not keep the process running. */
export function nodeTimer(callback: () => void, ms: number): () => void {
  const timer = setTimeout(callback, ms);
  timer.unref();
  return () => clearTimeout(timer);
}

/**
 * Converts a duration in seconds, which may have any fraction, to whole milliseconds, at least 1. Databases
 * store whole milliseconds only.
 */
export const wholeMs = (seconds: number): number => Math.max(1, Math.round(seconds * 1000));

/** Formats a time in milliseconds since the Unix epoch as ISO 8601, in UTC. */
export const iso = (time: number): string => new Date(time).toISOString();

/**
 * Largest step back of a clock for which the service's time stands still instead of going back, in
 * milliseconds.
 */
const heldBackMs = 2_000;

/**
 * Maximum difference between the clocks of two processes on one storage, in milliseconds, including the time
 * for which a call waits. A stored time that is further in the future than possible by more than this was
 * stored before the clock was set back.
 */
export const clockToleranceMs = 5_000;

/**
 * Checks whether something that lasts for `lengthMs` and ends at `endsAt` is not over yet. If `endsAt` is
 * later than possible, it began before the clock was set back; it then counts as over, because its true age
 * is unknown.
 */
export function goesOn(endsAt: number, now: number, lengthMs: number): boolean {
  return endsAt > now && endsAt <= now + lengthMs + clockToleranceMs;
}

/**
 * Clock that follows another clock which may be changed: by hand, by NTP, or by a failover to a machine whose
 * clock differs. After a step back of up to two seconds, its time stands still until the source has caught
 * up. A larger step back is followed, because standing still for long would stop everything that waits for a
 * time. Steps ahead are followed at once.
 */
export class FollowedClock implements Clock {
  readonly #source: Clock;
  #latest = Number.NEGATIVE_INFINITY;
  #listener: (backMs: number) => void = () => {};

  constructor(source: Clock) {
    this.#source = source;
  }

  now(): number {
    // Storages keep whole milliseconds, and clocks such as `performance.timeOrigin + performance.now()` give parts.
    const time = Math.floor(this.#source.now());
    const backMs = this.#latest - time;
    if (backMs > 0 && backMs <= heldBackMs) return this.#latest;
    this.#latest = time;
    if (backMs > 0 && Number.isFinite(backMs)) this.#listener(backMs);
    return time;
  }

  /**
   * Sets the function to call each time the followed clock goes back by more than two seconds. The function
   * gets the size of the step in milliseconds. A later call replaces the function.
   */
  onStepBack(listener: (backMs: number) => void): void {
    this.#listener = listener;
  }
}
