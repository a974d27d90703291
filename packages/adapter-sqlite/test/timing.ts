import { setImmediate } from 'node:timers/promises';
import type { Timing } from '../src/busy.ts';

/**
 * Makes a clock and timer in which time passes only during a sleep, and each sleep takes one turn of the
 * event loop.
 */
export function fakeTiming(): Timing & { readonly elapsed: () => number; onSleep: () => unknown } {
  let elapsed = 0;
  const timing = {
    now: () => elapsed,
    elapsed: () => elapsed,
    onSleep: (): unknown => undefined,
    async sleep(milliseconds: number) {
      elapsed += milliseconds;
      timing.onSleep();
      await setImmediate();
    },
  };
  return timing;
}
