import type { Clock } from '../ports/clock.ts';

/** The clock of this machine. */
export const systemClock: Clock = { now: () => Date.now() };

/** A moment in milliseconds since the Unix epoch, as every API of this package writes it. */
export const iso = (time: number): string => new Date(time).toISOString();

/** Largest step back of a clock that is held back, in milliseconds. */
const heldBackMs = 2_000;

/**
 * Largest difference between the clocks of two processes on one storage, in milliseconds, including the time for which a call
 * waits. A stored time that is further ahead than it can be, by more than this, was stored before the clock went back.
 */
export const clockToleranceMs = 5_000;

/**
 * Checks whether something that lasts for so many milliseconds goes on until `endsAt`. If it ends later than
 * possible, it began before the clock went back. It then counts as over, because its true age is unknown.
 */
export function goesOn(endsAt: number, now: number, lengthMs: number): boolean {
  return endsAt > now && endsAt <= now + lengthMs + clockToleranceMs;
}

/**
 * A clock whose source may be set: by hand, by NTP, by a failover to a machine whose clock differs. A step back of up to two seconds is
 * held back: the time stands still until the source has caught up. A larger one is followed, because standing still for long would stop
 * everything that waits for a time. Steps ahead are followed at once.
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

  /** Calls back after each step back that is followed, with its length in milliseconds. There is one listener. */
  onStepBack(listener: (backMs: number) => void): void {
    this.#listener = listener;
  }
}
